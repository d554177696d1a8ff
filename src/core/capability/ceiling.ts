import type { Json } from '../json/json.ts'
import type { Pid } from '../process/pid.ts'
import { isRefusal, type Refusal } from '../refusal.ts'
import { invalidRule } from './invalid-rule.ts'
import { parseRule } from './parse-rule.ts'
import type { Rule } from './rule.ts'

/** The most that a process and everything below it may do, given when it was registered from outside. Always closed. */
export interface Ceiling {
  /** The process that it was given to. It binds what this process does, not its own start. */
  readonly givenTo: Pid
  readonly rules: readonly Rule[]
}

/** What the ceilings of a new process follow from. */
export interface CeilingSources {
  readonly pid: Pid
  /** Those of its parent. */
  readonly parent: readonly Ceiling[]
  /** The process that it restarts, which may have a parent that the new one does not have. */
  readonly restarted: { readonly pid: Pid; readonly ceilings: readonly Ceiling[] } | null
  /** The rules of its own ceiling. */
  readonly own: readonly Rule[] | null
}

/** The ceilings of a new process: those of its parent, so that none is lost however deep the tree grows, and its own. */
export function ceilingsOf({ pid, parent, restarted, own }: CeilingSources): readonly Ceiling[] {
  const kept = (restarted?.ceilings ?? [])
    .filter(({ givenTo }) => !parent.some((known) => known.givenTo === givenTo))
    .map((ceiling) => (ceiling.givenTo === restarted?.pid ? { ...ceiling, givenTo: pid } : ceiling))
  return [...parent, ...kept, ...(own === null ? [] : [{ givenTo: pid, rules: own }])]
}

/** The ceilings that the start of a process must respect: those of the tree that it is started in. */
export function ceilingsOver(pid: Pid, ceilings: readonly Ceiling[]): readonly Ceiling[] {
  return ceilings.filter(({ givenTo }) => givenTo !== pid)
}

/** A ceiling is no capability: it is neither used up nor passed on. Its examples would not be verified. */
const NOT_IN_CEILINGS = ['uses', 'delegable', 'revocable', 'match', 'nonmatch'] as const

/** The rules of a ceiling as a caller writes them. */
export function parseCeiling(rules: readonly Json[]): readonly Rule[] | Refusal {
  const parsed: Rule[] = []
  for (const [index, json] of rules.entries()) {
    const rule = parseRule(json, `c${index + 1}`)
    if (isRefusal(rule)) return rule
    const misplaced = NOT_IN_CEILINGS.find((field) => rule[field] !== undefined)
    if (misplaced !== undefined)
      return invalidRule(`A rule of a ceiling has no ${misplaced}.`, 'Leave it out.', { field: misplaced })
    if (parsed.some(({ id }) => id === rule.id))
      return invalidRule(`Two rules of the ceiling have the id ${rule.id}.`, 'Leave the ids out.', {
        field: 'id',
      })
    parsed.push(rule)
  }
  return parsed
}
