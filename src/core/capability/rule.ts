import { alternatives, type Constraints } from './constraint.ts'
import { hoursText } from './hours.ts'
import { RIGHTS, type Right } from './right.ts'

export const EFFECTS = ['allow', 'ask', 'deny'] as const
type Effect = (typeof EFFECTS)[number]

/** What may, may not, or may only with a person's consent be done to a resource. A subject's rules are its capabilities. */
export interface Rule {
  /** Unique within its rule set. */
  readonly id: string
  readonly effect: Effect
  readonly rights: readonly Right[]
  /** A kind and a pattern: `fs:src/**`, `shell:git`. */
  readonly resource: string
  readonly constraints?: Constraints
  /** Of an ask: a subject whose set is closed may ask for it. It counts only where nothing allows the need. */
  readonly requestable?: true
  /** Of an ask: the agent that is asked instead of a person. */
  readonly reviewer?: string
  /** Of an ask: how long its requests wait for an answer. Then they expire, and what they ask for does not begin. */
  readonly answerWithinMs?: number
  /** Why the rule exists, for the person who is asked and for the agent that is refused. */
  readonly justification?: string
  /** Examples that the rule must match, verified when it is stored. */
  readonly match?: readonly string[]
  /** Examples that the rule must not match. */
  readonly nonmatch?: readonly string[]
  /** The hosts on which it counts; all if left out. */
  readonly hosts?: readonly string[]
  /** From this time on it no longer counts. Milliseconds since 1970. */
  readonly expiresAt?: number
  /** Of an allow: for how many actions it counts. */
  readonly uses?: number
  /** Of an allow: how many times it may be passed on, one below the other. */
  readonly delegable?: { readonly depth: number }
  /** It can only expire. */
  readonly revocable?: false
  /** The preset that it comes from. */
  readonly preset?: string
  /** The allows that it was delegated from, the first of the chain first. It counts only while all of them do. */
  readonly delegatedFrom?: readonly RuleLink[]
  /** Of an allow that a person's answer made: the asks that it answers. Such an allow does not close its set. */
  readonly settles?: readonly RuleLink[]
}

/** A rule of another set. */
export interface RuleLink {
  readonly subject: string
  /** The rule's id. */
  readonly rule: string
}

/** A rule in one line, for people: effect, rights and resource, limits, justification. */
export function ruleText(rule: Rule): string {
  const args = (rule.constraints?.args ?? []).map(tokenText)
  const limits = limitsOf(rule)
  return [
    rule.requestable === true ? 'ask (requestable)' : rule.effect,
    [rightsText(rule.rights), rule.resource, ...args].join(' '),
    ...(limits.length === 0 ? [] : [limits.join('; ')]),
    ...(rule.justification === undefined ? [] : [JSON.stringify(rule.justification)]),
  ].join('  ')
}

/** Whether a rule permits something: such a rule counts only where it certainly matches. */
export function isWidening({ effect, requestable }: Rule): boolean {
  return effect === 'allow' || (effect === 'ask' && requestable === true)
}

function rightsText(rights: readonly Right[]): string {
  return RIGHTS.every((right) => rights.includes(right)) ? 'any right to' : rights.join(',')
}

function tokenText(token: string | readonly string[]): string {
  const words = alternatives(token).map((word) => (/^[^\s"'{},]+$/.test(word) ? word : JSON.stringify(word)))
  return typeof token === 'string' ? words.join() : `{${words.join()}}`
}

/** Enough to tell the actions of one policy apart. */
const SHOWN_HASH_CHARS = 12

function limitsOf(rule: Rule): readonly string[] {
  const { paths, maxBytes, methods, hosts, env, hours, action } = rule.constraints ?? {}
  const texts = [
    paths && `paths ${paths.join(' ')}`,
    maxBytes !== undefined && `at most ${maxBytes} bytes`,
    methods?.join(' '),
    hosts && `hosts ${hosts.join(' ')}`,
    env && (env.length === 0 ? 'no variables' : `variables ${env.join(' ')}`),
    hours && hoursText(hours),
    action && `only the action ${action.slice(0, SHOWN_HASH_CHARS)}`,
    rule.reviewer !== undefined && `reviewer ${rule.reviewer}`,
    rule.answerWithinMs !== undefined && `answer within ${rule.answerWithinMs} ms`,
    rule.hosts && `on ${rule.hosts.join(' ')}`,
    rule.expiresAt !== undefined && `until ${new Date(rule.expiresAt).toISOString()}`,
    rule.uses !== undefined && `${rule.uses} uses`,
    rule.delegable && `delegable ${rule.delegable.depth} deep`,
    rule.revocable === false && 'not revocable',
  ]
  return texts.filter((text) => typeof text === 'string')
}
