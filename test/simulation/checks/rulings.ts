import type { AuditEntry } from '../../../src/core/audit/entry.ts'
import type { ProcessRecord } from '../../../src/core/process/record.ts'
import type { Change } from '../../../src/store/contract.ts'
import type { ActLog } from '../authority/act-log.ts'
import {
  boundActor,
  ceilingAsSet,
  ceilingsOver,
  needOf,
  needOfCommand,
  setsFor,
} from '../authority/bound-actor.ts'
import { type ModelNeed, type ModelRuling, OPEN, type RuleModel } from '../authority/rule-model.ts'
import type { Check, Ledger, ProcessChange } from '../ledger.ts'
import type { Stage } from '../stage.ts'
import { type Answering, checkRuleSets } from './rule-sets.ts'

type ApprovalChange = Extract<Change, { type: 'approval' }>

/** Every registration is ruled on as the model does, spends its uses once, and is in the audit of the same commit. */
export function checkRulings(stage: Stage, ledger: Ledger, rules: RuleModel, acts: ActLog): Check {
  const setsChange = checkRuleSets(stage, rules)

  /** Answers the counted rules that it uses. */
  const registered = (change: ProcessChange, changes: readonly Change[], host: string): readonly string[] => {
    const { record } = change.row
    const { pid, originator } = record
    const { ruling, sets, keys } = rulingOn(record, change.events[0]?.at ?? 0, originator, host)
    const entries = entriesOf(changes, 'spawn').filter(({ target }) => target === `process:${pid}`)
    const asked = changes.find(
      (one): one is ApprovalChange => one.type === 'approval' && one.was === null && one.approval.pid === pid,
    )
    const isBegun = change.row.holder !== null || change.events.some(({ type }) => type === 'started')
    const broke = (what: string) => {
      const said = `${ruling.type} by ${ruling.rules.join(', ') || 'no rule'}`
      stage.violated(
        'every ruling is that of the rules',
        `${pid} of ${originator} ${what}; the model says ${said}`,
      )
    }
    if (ruling.type === 'deny') broke('was registered')
    const waits = ruling.type === 'ask' || isQuestion(record)
    if (waits !== (asked !== undefined) || waits !== (record.gate?.state === 'pending'))
      broke(asked === undefined ? 'was not asked about' : 'was asked about')
    if (waits && isBegun) broke('was begun at once')
    const { request } = asked?.approval ?? {}
    if (request?.type === 'permission' && request.reviewer !== ruling.reviewer)
      broke(`is for ${request.reviewer ?? 'a person'} to decide, not for ${ruling.reviewer ?? 'a person'}`)
    for (const { decision, rule } of entries)
      if (rule !== null && !ruling.rules.includes(`${rule.subject} ${rule.id}`))
        broke(`was ${decision} by ${rule.subject} ${rule.id}`)
    const expected = ruling.type === 'allow' ? ['allowed'] : ruling.type === 'ask' ? ['asked'] : []
    const found = entries.map(({ decision }) => decision)
    if (ruling.type !== 'deny' && found.join() !== expected.join())
      stage.violated(
        'an act and its audit entry are one commit',
        `${pid} was registered by ${ruling.type}, with the entries [${found.join()}]`,
      )
    for (const name of ruling.uses) rules.use(name, 1)
    ledger.uses.set(pid, ruling.uses)
    if (waits && !isQuestion(record)) acts.asked.set(pid, { sets, keys, asks: ruling.asks })
    return ruling.uses
  }

  /** Its action has changed since the yes: it is another one, which no lasting answer is about. */
  const askedAgain = (record: ProcessRecord, subject: string, host: string) => {
    const bound = boundActor(ledger, subject)
    const now = bound === null ? [] : setsFor(ledger, bound, record)
    const effective = { ...record, spec: record.effectiveSpec ?? record.spec }
    const keys = rules.hasAnswers(now) ? acts.keysOf(effective, subject, host) : null
    const before = acts.asked.get(record.pid)?.sets ?? []
    acts.asked.set(record.pid, { sets: [...new Set([...before, ...now])], keys, asks: [] })
  }

  /**
   * What is denied, withdrawn or expired, and a question, did not begin: it gives its uses back. A yes is ruled on again, by the rules of now. Answers
   * the counted rules whose uses change, and what the answer is about if it counts for more than one time.
   */
  const settled = (
    change: ApprovalChange,
  ): { readonly uses: readonly string[]; readonly answering?: Answering } => {
    const { was, approval } = change
    const { pid, state, request, answer } = approval
    if (was?.state !== 'pending' || state === 'pending') return { uses: [] }
    const before = (ledger.uses.get(pid) ?? []).filter((name) => rules.used(name) > 0)
    for (const name of before) rules.use(name, -1)
    const record = ledger.entry(pid)?.record
    ledger.uses.set(pid, [])
    if (answer?.type !== 'approved' || record === undefined) return { uses: before }
    const { ruling, keys } = rulingOnYes(change, record)
    const broke = (what: string) => stage.violated('every ruling is that of the rules', `${pid} ${what}`)
    if (ruling.type === 'deny') broke('was approved, and the model denies it now')
    if (answer.rule !== null && ruling.type !== 'allow')
      broke(`was approved by a rule, and the model says ${ruling.type} by ${ruling.rules.join()}`)
    if (was.request.reviewer !== null && answer.by.startsWith('process:'))
      if (ruling.type === 'ask' && ruling.reviewer !== was.request.reviewer)
        broke(`was approved by its reviewer, and ${ruling.reviewer ?? 'a person'} has to decide now`)
    for (const name of ruling.uses) rules.use(name, 1)
    ledger.uses.set(pid, ruling.uses)
    const uses = [...before, ...ruling.uses].filter(
      (name) => before.includes(name) !== ruling.uses.includes(name),
    )
    const { grant } = answer
    const key = grant === 'once' ? undefined : keys?.[grant]
    if (grant === 'once' || answer.rule !== null || key === undefined) return { uses }
    const subject =
      grant === 'always'
        ? (answer.storedIn ?? 'home')
        : grant === 'session'
          ? `session:${request.session}`
          : request.subject
    return {
      uses,
      answering: { approval: approval.id, subject, key, answers: acts.asked.get(pid)?.asks ?? [] },
    }
  }

  /** The rules of the time of the request bind, and those that bind its asker now. An edit is another action. */
  const rulingOnYes = ({ approval: { pid, request, answer } }: ApprovalChange, record: ProcessRecord) => {
    const edit = answer?.type === 'approved' ? answer.spec : null
    const spec = edit ?? record.effectiveSpec ?? record.spec
    const acted = { ...record, spec }
    const asked = acts.asked.get(pid)
    const bound = boundActor(ledger, request.subject)
    const host = request.type === 'permission' ? request.action.host : null
    const now = bound === null ? [] : edit === null ? bound.sets : setsFor(ledger, bound, record)
    const sets = [...new Set([...(asked?.sets ?? []), ...now])]
    const keys =
      edit === null
        ? (asked?.keys ?? null)
        : acts.keysOf(acted, bound?.subject ?? request.subject, host ?? '')
    const need = needOf(acted)
    if (need === null) return { ruling: OPEN, keys }
    const known = keys === null ? need : { ...need, keys: Object.values(keys) }
    return { ruling: rules.rule(sets, ceilingsOver(record), known, answer?.at ?? 0), keys }
  }

  const rulingOn = (record: ProcessRecord, at: number, actor: string, host: string) => {
    const need = needOf(record)
    const bound = boundActor(ledger, actor)
    if (bound === null || need === null) return { ruling: OPEN, sets: [], keys: null }
    const sets = setsFor(ledger, bound, record)
    const keys = acts.keysOf(record, bound.subject, host)
    const ruling = rules.rule(sets, ceilingsOver(record), { ...need, keys: Object.values(keys) }, at)
    return { ruling, sets, keys }
  }

  /** The entry of a denial names the agent or the session; any of its tools may have asked, for any session below it. */
  const denied = ({ actor, at, rule, inputs }: AuditEntry) => {
    const need = needOfAct(inputs['act'])
    if (need === undefined) return
    const kind = need.kind === 'shell' ? 'command' : 'tool'
    const cwd = typeof inputs['cwd'] === 'string' ? (inputs['cwd'].split('#')[0] ?? null) : null
    const owners = [{}, ...[...ledger.sessions.keys()].map((session) => ({ session }))]
    const askers = [actor, ...[...ledger.processes.keys()].map((pid) => `process:${pid}`)]
    const rulings = askers.flatMap((asker) => {
      const bound = boundActor(ledger, asker)
      if (bound?.subject !== actor) return []
      return owners.map((owner) => {
        const sessionsAbove = ledger.sessions.get(String(Object(owner).session))?.sessionsAbove ?? []
        const [own] = bound.sessions
        const isBelow = own !== undefined && sessionsAbove.includes(own)
        const act = { kind, cwd, owner: isBelow ? owner : {}, sessionsAbove } as const
        return rules.rule(setsFor(ledger, bound, act), ceilingsOf(asker), need, at)
      })
    })
    const isDenied = ({ type, rules: names }: ModelRuling) =>
      type === 'deny' && (rule === null || names.includes(`${rule.subject} ${rule.id}`))
    if (!rulings.some(isDenied))
      stage.violated(
        'every ruling is that of the rules',
        `${actor} was denied ${need.kind}:${need.name} by ${rule?.id ?? 'no rule'}; the model says ${rulings.map(({ type }) => type).join()}`,
      )
  }

  /** Those that bind what the process does, its own one included. */
  const ceilingsOf = (actor: string) =>
    (ledger.entry(actor.slice('process:'.length))?.record.ceilings ?? []).map(ceilingAsSet)

  const usesAreSpent = (changes: readonly Change[], expected: readonly string[]) => {
    const written = new Map(
      changes.flatMap((change) => (change.type === 'rule_use' ? [[change.use.id, change] as const] : [])),
    )
    for (const name of new Set([...written.keys(), ...expected])) {
      const used = written.get(name)?.use.used
      if (used !== rules.used(name))
        stage.violated(
          'a use is spent once',
          `${name} has ${used} uses in this commit, and ${rules.used(name)} in the model`,
        )
    }
  }

  return {
    plan({ changes, answer }, { host }) {
      const uses: string[] = []
      let answering: Answering | undefined
      for (const change of changes) {
        if (change.type === 'process' && change.was === null) uses.push(...registered(change, changes, host))
        if (change.type === 'approval') {
          const { approval, was } = change
          const record = ledger.processes.get(approval.pid)?.record
          if (was === null && record !== undefined) askedAgain(record, approval.request.subject, host)
          const one = settled(change)
          uses.push(...one.uses)
          answering ??= one.answering
        }
        if (
          change.type === 'audit' &&
          !isLaterInBatch(answer) &&
          change.entry.decision === 'denied' &&
          change.entry.action === 'spawn'
        )
          denied(change.entry)
      }
      usesAreSpent(changes, uses)
      setsChange(changes, answering)
      for (const change of changes) {
        if (change.type === 'rule_set_gone') rules.removeSet(change.subject)
        if (change.type === 'rule_use_gone') rules.removeUse(change.id)
        if (change.type === 'session_gone') rules.removeSet(`session:${change.id}`)
        if (change.type === 'prune')
          for (const { pid } of change.tombstones) rules.removeSet(`process:${pid}`)
      }
    },
  }
}

function entriesOf(changes: readonly Change[], ...actions: readonly string[]): readonly AuditEntry[] {
  return changes.flatMap((change) =>
    change.type === 'audit' && actions.includes(change.entry.action) && change.entry.decision !== 'denied'
      ? [change.entry]
      : [],
  )
}

/** Denied after other registrations of its batch, whose uses counted for it and are not written. */
function isLaterInBatch(answer: unknown): boolean {
  const { details } = Object(answer) as { readonly details?: unknown }
  return Number(Object(details)['index'] ?? 0) > 0
}

/** What an action of the audit needs; undefined if these worlds do not know it. */
function needOfAct(act: unknown): ModelNeed | undefined {
  const { type, argv, run, ...names } = Object(act) as Readonly<Record<string, unknown>>
  if (type === 'command')
    return needOfCommand(Array.isArray(argv) ? argv.map(String) : String(run).split(' '))
  return typeof type === 'string'
    ? { right: 'execute', kind: type, name: String(names[type]), args: [] }
    : undefined
}

function isQuestion({ kind, spec }: ProcessRecord): boolean {
  return kind === 'tool' && spec['tool'] === 'human.ask'
}
