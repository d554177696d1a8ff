import type { AuditEntry } from '../../../src/core/audit/entry.ts'
import type { RuleSet } from '../../../src/core/capability/rule-set.ts'
import type { Change } from '../../../src/store/contract.ts'
import type { RememberedAnswer, RuleModel } from '../authority/rule-model.ts'
import type { Stage } from '../stage.ts'

type RuleSetChange = Extract<Change, { type: 'rule_set' }>

/** An answer that counts for more than one time, and the set that must get it. */
export interface Answering extends RememberedAnswer {
  readonly approval: string
  readonly subject: string
}

/** Every change of a rule set is in the audit of the same commit, and what answers and files leave is what they mean. */
export function checkRuleSets(stage: Stage, rules: RuleModel) {
  const broke = (what: string) => stage.violated('an act and its audit entry are one commit', what)

  const fileChanged = ({ ruleSet }: RuleSetChange, changes: readonly Change[]) => {
    const { subject, source } = ruleSet
    const hash = source?.hash ?? ''
    const [entry] = entriesOf(changes, 'trustPolicy', 'untrustPolicy', 'loadPolicy').filter(
      ({ target }) => target === subject,
    )
    // An agent can change a file all the time: many loads are counted.
    if (entry === undefined && !changes.some(({ type }) => type === 'audit_window'))
      broke(`${subject} was changed without an entry`)
    if (entry?.action === 'trustPolicy') rules.files.trust(subject, hash)
    else if (entry?.action === 'untrustPolicy') rules.files.untrust(subject)
    else rules.files.load(subject, hash)
    if (entry !== undefined && entry.action !== 'loadPolicy' && !isPerson(entry.actor))
      stage.violated('only people trust a file', `${entry.actor} did ${entry.action} of ${subject}`)
  }

  const setChanged = (
    { was, ruleSet }: RuleSetChange,
    answering: Answering | undefined,
  ): readonly string[] => {
    const { subject } = ruleSet
    const before = idsOf(was)
    const after = idsOf(ruleSet)
    const added = ruleSet.rules.filter(({ id, settles }) => !before.has(id) && settles === undefined)
    const gained = ruleSet.rules.filter(({ id, settles }) => !before.has(id) && settles !== undefined)
    if (gained.length > 0 && answering?.subject !== subject)
      stage.violated(
        'a grant counts where it was given',
        `${subject} got an answer, and ${answering?.subject ?? 'no set'} should`,
      )
    rules.changeSet(ruleSet, answering?.subject === subject ? answering : undefined)
    if (rules.isClosed(subject) && !ruleSet.closed) stage.violated('a closed set stays closed', subject)
    return [
      ...added.map(({ id }) => `added ${subject} ${id}`),
      ...[...before].filter((id) => !after.has(id)).map((id) => `removed ${subject} ${id}`),
    ]
  }

  return (changes: readonly Change[], answering: Answering | undefined): void => {
    const entries = entriesOf(changes, ...ADDING, ...REMOVING)
    const told = entries
      .filter(({ inputs }) => inputs['grant'] === undefined)
      .map(
        ({ action, rule }) => `${ADDING.includes(action) ? 'added' : 'removed'} ${rule?.subject} ${rule?.id}`,
      )
    const done: string[] = []
    for (const change of changes) {
      if (change.type !== 'rule_set') continue
      if (change.ruleSet.subject.startsWith('file:')) fileChanged(change, changes)
      else done.push(...setChanged(change, answering))
    }
    if (told.sort().join() !== done.sort().join())
      broke(`[${done.join()}] was done, the entries say [${told.join()}]`)
    if (answering === undefined) return
    const granted = entries.filter(({ inputs }) => inputs['approval'] === answering.approval)
    if (granted.length === 0) broke(`${answering.approval} counts from now on, and no entry tells of it`)
    if (!changes.some((change) => change.type === 'rule_set' && change.ruleSet.subject === answering.subject))
      stage.violated('a grant counts where it was given', `${answering.subject} did not get the answer`)
  }
}

const ADDING: readonly string[] = ['addRule', 'delegate']
/** Attempts that were denied, and counts of them, change nothing. */
const DONE: readonly string[] = ['granted', 'revoked']
const REMOVING: readonly string[] = ['removeRule', 'revokeDelegated']

function entriesOf(changes: readonly Change[], ...actions: readonly string[]): readonly AuditEntry[] {
  return changes.flatMap((change) =>
    change.type === 'audit' && actions.includes(change.entry.action) && DONE.includes(change.entry.decision)
      ? [change.entry]
      : [],
  )
}

function idsOf(set: RuleSet | null): ReadonlySet<string> {
  return new Set(set?.rules.map(({ id }) => id))
}

function isPerson(actor: string): boolean {
  return actor === 'host' || actor.startsWith('human:')
}
