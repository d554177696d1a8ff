import type { Approval } from '../../../src/core/approval/approval.ts'
import type { ResolvedAction } from '../../../src/core/capability/action.ts'
import type { Pid } from '../../../src/core/process/pid.ts'
import type { ProcessRecord } from '../../../src/core/process/record.ts'
import type { Change } from '../../../src/store/contract.ts'
import { type Check, type CommittedPlan, type Committer, type Ledger, same } from '../ledger.ts'
import type { Stage } from '../stage.ts'
import type { ActLog } from './act-log.ts'
import { boundActor, ceilingsOver, needOf, setsFor } from './bound-actor.ts'
import { type ModelRuling, OPEN, type RuleModel } from './rule-model.ts'

type Files = Pick<ResolvedAction, 'cwd' | 'programs'>

interface AllowedCommand {
  readonly files: Files
  /** Rules were there that bound it. Without any, nothing is compared later. */
  readonly isRuled: boolean
}

/** What an executor found out before it asked whether its command may begin. */
export interface LookedAt {
  readonly mustAsk: boolean
  /** How often what rulings depend on had changed. */
  readonly changes: number
}

const LAW = 'a changed command is asked about'

/** Commands that rules let begin without a person: each begins with the files that were ruled on, or a person is asked. */
export class AllowedCommands implements Check {
  readonly #stage: Stage
  readonly #ledger: Ledger
  readonly #rules: RuleModel
  readonly #acts: ActLog
  readonly #allowed = new Map<Pid, AllowedCommand>()
  #changes = 0

  constructor(stage: Stage, ledger: Ledger, rules: RuleModel, acts: ActLog) {
    this.#stage = stage
    this.#ledger = ledger
    this.#rules = rules
    this.#acts = acts
  }

  /** Before the rules of the model change with the same plan. */
  plan({ changes }: CommittedPlan, { host }: Committer): void {
    for (const change of changes) {
      if (change.type === 'process' && change.was === null) this.#registered(change.row.record)
      if (change.type === 'approval' && change.was === null) this.#asked(change.approval, host)
      if (this.#changesRulings(change)) this.#changes += 1
    }
  }

  /** The command is about to begin, and its executor has looked at its files. */
  looksAt(record: ProcessRecord, resolved: ResolvedAction, host: string, at: number): LookedAt {
    return { mustAsk: this.#mustAsk(record, resolved, host, at), changes: this.#changes }
  }

  /** The command begins. What the rules said when the kernel asked them is known if they have not changed since the look. */
  begins(record: ProcessRecord, resolved: ResolvedAction, host: string, at: number, looked: LookedAt): void {
    if (record.gate !== null || !looked.mustAsk || looked.changes !== this.#changes) return
    if (this.#mustAsk(record, resolved, host, at))
      this.#broke(`${record.pid} began with ${JSON.stringify(filesOf(resolved))}, which no rule allowed`)
  }

  #registered(record: ProcessRecord): void {
    const { pid, kind, spec, gate, originator } = record
    const bound = boundActor(this.#ledger, originator)
    const [resolved] = this.#acts.resolutionsOf(pid, spec)
    if (kind !== 'command' || gate !== null || bound === null || resolved === undefined) return
    const isRuled =
      this.#rules.hasRules(setsFor(this.#ledger, bound, record)) || ceilingsOver(record).length > 0
    this.#allowed.set(pid, { files: filesOf(resolved), isRuled })
  }

  /** A command that was allowed is asked about: for a reason, and by rules. */
  #asked({ pid, askedAt }: Approval, host: string): void {
    const record = this.#ledger.processes.get(pid)?.record
    if (record === undefined || record.gate !== null) return
    const [resolved] = this.#acts.resolutionsOf(pid, record.spec)
    const allowed = this.#allowed.get(pid)
    if (resolved === undefined || allowed === undefined) this.#broke(`${pid} was never ruled on`)
    else if (same(allowed.files, filesOf(resolved))) this.#broke(`${pid} has not changed`)
    else if (this.#rulingOn(record, host, askedAt).type === 'open')
      this.#broke(`no rule is about ${pid}, which was asked about`)
  }

  #mustAsk(record: ProcessRecord, resolved: ResolvedAction, host: string, at: number): boolean {
    const allowed = this.#allowed.get(record.pid)
    if (allowed === undefined || !allowed.isRuled || same(allowed.files, filesOf(resolved))) return false
    return this.#rulingOn(record, host, at).type !== 'open'
  }

  /** What the rules say now. The uses that it has taken do not count against it. */
  #rulingOn(record: ProcessRecord, host: string, at: number): ModelRuling {
    const bound = boundActor(this.#ledger, record.originator)
    const need = needOf(record)
    if (bound === null || need === null) return OPEN
    const keys = Object.values(this.#acts.keysOf(record, bound.subject, host))
    const taken = (this.#ledger.uses.get(record.pid) ?? []).filter((name) => this.#rules.used(name) > 0)
    for (const name of taken) this.#rules.use(name, -1)
    const sets = setsFor(this.#ledger, bound, record)
    const ruling = this.#rules.rule(sets, ceilingsOver(record), { ...need, keys }, at)
    for (const name of taken) this.#rules.use(name, 1)
    return ruling
  }

  #changesRulings(change: Change): boolean {
    if (change.type === 'process')
      return change.was !== null && !same(change.was.record.owner, change.row.record.owner)
    return RULING_FACTS.includes(change.type)
  }

  #broke(what: string): void {
    this.#stage.violated(LAW, what)
  }
}

const RULING_FACTS: readonly Change['type'][] = [
  ...(['rule_set', 'rule_set_gone', 'rule_use', 'rule_use_gone'] as const),
  ...(['session', 'session_gone', 'prune'] as const),
]

function filesOf({ cwd, programs }: ResolvedAction): Files {
  return { cwd, programs }
}
