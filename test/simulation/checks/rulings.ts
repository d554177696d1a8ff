import type { AuditEntry } from '../../../src/core/audit/entry.ts'
import type { Ceiling } from '../../../src/core/capability/ceiling.ts'
import type { Pid } from '../../../src/core/process/pid.ts'
import type { ProcessRecord } from '../../../src/core/process/record.ts'
import type { Change } from '../../../src/store/contract.ts'
import { boundActor, needOf, needOfCommand } from '../authority/bound-actor.ts'
import type { ModelNeed, ModelRuling, RuleModel } from '../authority/rule-model.ts'
import type { Check, Ledger, ProcessChange } from '../ledger.ts'
import type { Stage } from '../stage.ts'

const OPEN: ModelRuling = { type: 'open', rules: [], uses: [] }

/** Every registration is ruled on as the model does, spends its uses once, and is in the audit of the same commit. */
export function checkRulings(stage: Stage, ledger: Ledger, rules: RuleModel): Check {
  /** The counted rules whose uses are reserved for a process that waits for an approval. */
  const reserved = new Map<Pid, readonly string[]>()

  /** Answers the counted rules that it uses. */
  const registered = (change: ProcessChange, changes: readonly Change[]): readonly string[] => {
    const { record } = change.row
    const { pid, originator } = record
    const ruling = rulingOn(record, change.events[0]?.at ?? 0)
    const entries = entriesOf(changes, 'spawn').filter(({ target }) => target === `process:${pid}`)
    const asked = changes.some(
      (one) => one.type === 'approval' && one.was === null && one.approval.pid === pid,
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
    if (waits !== asked || waits !== (record.gate?.state === 'pending'))
      broke(asked ? 'was asked about' : 'was not asked about')
    if (waits && isBegun) broke('was begun at once')
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
    if (waits && !isQuestion(record)) reserved.set(pid, ruling.uses)
    return ruling.uses
  }

  /**
   * What is denied, withdrawn or expired did not begin: it gives its uses back. A yes is ruled on again, by the rules of now. Answers
   * the counted rules whose uses change.
   */
  const settled = ({ was, approval }: Extract<Change, { type: 'approval' }>): readonly string[] => {
    const { pid, state, request, answer } = approval
    if (was?.state !== 'pending' || state === 'pending') return []
    const before = (reserved.get(pid) ?? []).filter((name) => rules.used(name) > 0)
    for (const name of before) rules.use(name, -1)
    const record = ledger.entry(pid)?.record
    if (answer?.type !== 'approved' || record === undefined) return before
    const ruling = rulingOn(record, answer.at, request.subject)
    if (ruling.type === 'deny')
      stage.violated('every ruling is that of the rules', `${pid} was approved, and the model denies it now`)
    for (const name of ruling.uses) rules.use(name, 1)
    reserved.set(pid, ruling.uses)
    return [...before, ...ruling.uses].filter((name) => before.includes(name) !== ruling.uses.includes(name))
  }

  const rulingOn = (record: ProcessRecord, at: number, actor: string = record.originator): ModelRuling => {
    const need = needOf(record)
    const bound = boundActor(ledger, actor)
    if (bound === null || need === null) return OPEN
    const ceilings = (record.ceilings ?? []).filter(({ givenTo }) => givenTo !== record.pid).map(asSet)
    return rules.rule(bound.sets, ceilings, need, at)
  }

  /** The entry of a denial names the agent or the session; any of its tools may have asked. */
  const denied = ({ actor, at, rule, inputs }: AuditEntry) => {
    const need = needOfAct(inputs['act'])
    if (need === undefined) return
    const askers = [actor, ...[...ledger.processes.keys()].map((pid) => `process:${pid}`)]
    const rulings = askers.flatMap((asker) => {
      const bound = boundActor(ledger, asker)
      return bound?.subject === actor ? [rules.rule(bound.sets, ceilingsOf(asker), need, at)] : []
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
    (ledger.entry(actor.slice('process:'.length))?.record.ceilings ?? []).map(asSet)

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

  const setsChange = (changes: readonly Change[]) => {
    const told = entriesOf(changes, 'addRule', 'removeRule').map(
      ({ action, rule }) => `${action} ${rule?.subject} ${rule?.id}`,
    )
    const done: string[] = []
    for (const change of changes) {
      if (change.type !== 'rule_set') continue
      const { was, ruleSet } = change
      const { subject } = ruleSet
      const ids = (set: typeof was) => new Set(set?.rules.map(({ id }) => id))
      for (const id of ids(ruleSet)) if (!ids(was).has(id)) done.push(`addRule ${subject} ${id}`)
      for (const id of ids(was)) if (!ids(ruleSet).has(id)) done.push(`removeRule ${subject} ${id}`)
      rules.changeSet(ruleSet)
      if (rules.isClosed(subject) && !ruleSet.closed) stage.violated('a closed set stays closed', subject)
    }
    if (told.sort().join() !== done.sort().join())
      stage.violated(
        'an act and its audit entry are one commit',
        `[${done.join()}] was done, the entries say [${told.join()}]`,
      )
  }

  return {
    plan({ changes, answer }) {
      if (isDenial(answer) && !changes.some(({ type }) => type === 'audit' || type === 'audit_window'))
        stage.violated('every denial is in the audit', `a registration was denied, and no entry tells of it`)
      const uses: string[] = []
      for (const change of changes) {
        if (change.type === 'process' && change.was === null) uses.push(...registered(change, changes))
        if (change.type === 'approval') uses.push(...settled(change))
        if (
          change.type === 'audit' &&
          !isLaterInBatch(answer) &&
          change.entry.decision === 'denied' &&
          change.entry.action === 'spawn'
        )
          denied(change.entry)
      }
      usesAreSpent(changes, uses)
      setsChange(changes)
      for (const change of changes) {
        if (change.type === 'rule_set_gone') rules.removeSet(change.subject)
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

/** Whether the answer of a plan is that rules deny a registration. */
function isDenial(answer: unknown): boolean {
  const { code, details } = Object(answer) as { readonly code?: unknown; readonly details?: unknown }
  return code === 'denied' && Object(details)['needs'] !== undefined
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

function asSet({ givenTo, rules }: Ceiling) {
  return { subject: `ceiling:${givenTo}`, rules }
}

function isQuestion({ kind, spec }: ProcessRecord): boolean {
  return kind === 'tool' && spec['tool'] === 'human.ask'
}
