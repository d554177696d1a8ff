import { subjectHere, workspaceSubject } from '../core/capability/folder-subjects.ts'
import { isUsableFolder } from '../core/capability/in-workspace.ts'
import { invalidRule } from '../core/capability/invalid-rule.ts'
import { isWidening, type Rule, ruleText } from '../core/capability/rule.ts'
import { binds, type RuleSet } from '../core/capability/rule-set.ts'
import { RefusedError } from '../core/errors.ts'
import { asJson } from '../core/json/json.ts'
import { isRefusal, type Refusal } from '../core/refusal.ts'
import type { Edges } from '../kernel/edges.ts'
import type { OutputOf, ParsedInputOf } from '../verbs/reeve.ts'

/** The subject of a rule set. */
export interface RuleOwner {
  readonly subject: string
  /** The folder in which relative paths of its rules begin; null: that of the workspace in which a rule is applied. */
  readonly folder: string | null
}

/** The subject that a caller names. */
export async function ruleOwner(edges: Edges, to: ParsedInputOf<'addRule'>['to']): Promise<RuleOwner> {
  switch (to.type) {
    case 'home':
      return { subject: 'home', folder: null }
    case 'workspace': {
      const folder = await realFolder(edges, to.folder)
      if (!isUsableFolder(folder)) refuse(unusable(folder))
      return { subject: await workspaceOwner(edges, folder), folder }
    }
    case 'session':
    case 'process':
      return { subject: holderOf(to), folder: null }
  }
}

/** Rules that were stored before subjects named a machine are changed where they are, until there are none. */
async function workspaceOwner({ store, machine = null }: Edges, folder: string): Promise<string> {
  const subject = workspaceSubject(folder, machine)
  const before = workspaceSubject(folder, null)
  if (before === subject || binds(await store.ask({ ask: 'ruleSet', subject }))) return subject
  return binds(await store.ask({ ask: 'ruleSet', subject: before })) ? before : subject
}

export function holderOf(to: ParsedInputOf<'delegateRule'>['to']): `session:${string}` | `process:${string}` {
  return to.type === 'session' ? `session:${to.session}` : `process:${to.pid}`
}

/** The folder after symbolic links. */
async function realFolder({ workspaces }: Edges, folder: string): Promise<string> {
  return (await workspaces?.files.look(folder))?.folder ?? folder
}

/** Rules as callers see them. */
export function shownRules(
  { clock, machine = null }: Pick<Edges, 'clock' | 'machine'>,
  { subject, rules, trusted }: Pick<RuleSet, 'subject' | 'rules' | 'trusted'>,
): OutputOf<'policies'>['rules'] {
  const at = clock.now()
  return rules.map((rule: Rule) => ({
    subject: subjectHere(subject, machine),
    id: rule.id,
    text: ruleText(rule),
    inForce: (trusted || !isWidening(rule)) && (rule.expiresAt === undefined || rule.expiresAt > at),
    rule: asJson(rule),
  }))
}

/** The value, unless it is a refusal: that ends the action. */
export function unlessRefused<Value>(value: Value | Refusal): Value {
  return isRefusal(value) ? refuse(value) : value
}

/** Ends an action with a refusal. */
export function refuse(refused: Refusal): never {
  throw new RefusedError(refused)
}

function unusable(folder: string): Refusal {
  return invalidRule(
    `The path ${folder} has a character that rules take for a wildcard.`,
    'Rename the folder, or add the rule to a session.',
  )
}
