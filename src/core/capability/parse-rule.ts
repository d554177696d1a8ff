import { didYouMean } from '../../base/nearest-name.ts'
import type { Json, JsonObject } from '../json/json.ts'
import { isRefusal, type Refusal } from '../refusal.ts'
import { invalidRule } from './invalid-rule.ts'
import { isCount, isObject, isTexts, parseConstraints } from './parse-constraints.ts'
import {
  defaultRightOf,
  mayBeAsked,
  parseResource,
  type ResourceKind,
  type ResourcePattern,
  resourceText,
  rightsOf,
} from './resource.ts'
import { RIGHTS, type Right } from './right.ts'
import { EFFECTS, type Rule } from './rule.ts'

const MAX_JUSTIFICATION_CHARS = 2000
const MAX_NAME_CHARS = 256
/** The last time that a date can have. */
const MAX_TIME = 8.64e15
/** A year: the facts of a request that waits longer are outdated. */
const MAX_WAIT_MS = 366 * 24 * 60 * 60 * 1_000
/** As deep as a tree of processes can be by default. */
const MAX_DELEGATION_DEPTH = 32

/**
 * A rule as a person, a policy file or an agent writes it. Fields that only Reeve sets, such as `delegatedFrom`, are unknown
 * here. `shell:git push` is short for `shell:git` with the constraint `args: ["push"]`.
 */
export function parseRule(json: Json, newId: string): Rule | Refusal {
  if (!isObject(json))
    return invalidRule(
      'A rule must be an object.',
      'Write { "effect": "ask", "resource": "shell:git push" }.',
    )
  const problem = refuseFields(json)
  if (problem !== undefined) return problem
  const written = inFull(json)
  if (isRefusal(written)) return written
  const pattern = parseResource(written.resource)
  if (isRefusal(pattern)) return pattern
  const constraints = parseConstraints(written.constraints, pattern.kind)
  if (isRefusal(constraints)) return constraints
  const { resource: _text, constraints: _json, ...fields } = json
  const rule: Rule = {
    ...(fields as Partial<Rule>),
    effect: EFFECTS.find((effect) => effect === json['effect']) ?? 'deny',
    id: typeof json['id'] === 'string' ? json['id'] : newId,
    rights: isTexts(json['rights']) ? rightsIn(json['rights']) : defaultRights(pattern, json['effect']),
    resource: resourceText(pattern),
    ...(Object.keys(constraints).length === 0 ? {} : { constraints }),
  }
  return refuseCombination(rule) ?? refuseUnchecked(rule, pattern.kind, json['rights'] !== undefined) ?? rule
}

/** Each field with what it must be, and whether it is. */
const FIELDS: { readonly [field: string]: readonly [must: string, is: (value: Json) => boolean] } = {
  id: ['a name of letters, digits, - _ . and /', (value) => isMatch(value, /^[\w.-][\w./-]{0,127}$/)],
  effect: [EFFECTS.join(', '), (value) => EFFECTS.some((effect) => effect === value)],
  rights: [
    `a list of ${RIGHTS.join(', ')}`,
    (value) => isTexts(value) && value.length > 0 && rightsIn(value).length === new Set(value).size,
  ],
  resource: ['a text such as fs:src/**', (value) => typeof value === 'string'],
  constraints: ['an object', isObject],
  requestable: ['true', (value) => value === true],
  reviewer: ['tool:…, workflow:… or agent:… with a name', isReviewer],
  answerWithinMs: [
    'a number of milliseconds from 1 on',
    (value) => isCount(value) && value > 0 && value <= MAX_WAIT_MS,
  ],
  justification: [
    `a text of at most ${MAX_JUSTIFICATION_CHARS} characters`,
    (value) => typeof value === 'string' && value !== '' && value.length <= MAX_JUSTIFICATION_CHARS,
  ],
  match: ['a list of examples', isTexts],
  nonmatch: ['a list of examples', isTexts],
  hosts: ['a list of hosts', (value) => isTexts(value) && value.length > 0 && value.every(isName)],
  expiresAt: ['milliseconds since 1970', (value) => isCount(value) && value <= MAX_TIME],
  uses: ['a number from 1 on', (value) => isCount(value) && value > 0],
  delegable: [
    `{ depth } with a number from 1 to ${MAX_DELEGATION_DEPTH}`,
    (value) =>
      isObject(value) &&
      Object.keys(value).join() === 'depth' &&
      isCount(value['depth']) &&
      value['depth'] > 0 &&
      value['depth'] <= MAX_DELEGATION_DEPTH,
  ],
  revocable: ['false', (value) => value === false],
}

const FIELD_NAMES = Object.keys(FIELDS)

function refuseFields(json: JsonObject): Refusal | undefined {
  for (const [field, value] of Object.entries(json)) {
    const [must, is] = (Object.hasOwn(FIELDS, field) && FIELDS[field]) || []
    if (must === undefined || is === undefined)
      return invalidRule(
        `A rule has no field ${JSON.stringify(field)}.${didYouMean(field, FIELD_NAMES)}`,
        `It may have ${FIELD_NAMES.join(', ')}.`,
        { field },
      )
    if (!is(value)) {
      const meant = field === 'rights' && isTexts(value) ? rightMeant(value) : ''
      return invalidRule(`${field} of a rule must be ${must}.${meant}`, `Correct ${field}.`, { field })
    }
  }
  const missing = ['effect', 'resource'].find((field) => !Object.hasOwn(json, field))
  if (missing === undefined) return undefined
  return invalidRule(`A rule needs ${missing}.`, 'Write { "effect": "ask", "resource": "shell:git push" }.', {
    field: missing,
  })
}

/** The resource and constraints with `shell:git push` written in full. */
function inFull(json: JsonObject): { readonly resource: string; readonly constraints: Json } | Refusal {
  const resource = String(json['resource'])
  const constraints = json['constraints'] ?? {}
  const isFull =
    !resource.startsWith('shell:') || (isObject(constraints) && Object.hasOwn(constraints, 'args'))
  if (isFull || !/\s/.test(resource)) return { resource, constraints }
  const [program = '', ...args] = resource.trim().split(/\s+/)
  // A path may have blanks itself, and in a shell quotes and wildcards would be more than they are here.
  if (program.includes('/') || /["'\\*?$`{}]/.test(args.join('')))
    return invalidRule(
      `The resource ${resource} does not say clearly which part is the program.`,
      'Name the program alone, and give its arguments in constraints.args; [] stands for any.',
    )
  return { resource: program, constraints: { ...(isObject(constraints) ? constraints : {}), args } }
}

/** An allow gives little if it does not say what, an ask or a deny holds back everything. */
function defaultRights({ kind }: ResourcePattern, effect: Json | undefined): readonly Right[] {
  const right = defaultRightOf(kind)
  return effect === 'allow' || right === 'execute' ? [right] : RIGHTS
}

function refuseCombination(rule: Rule): Refusal | undefined {
  const { effect, requestable, constraints } = rule
  const misplaced = [
    ...(effect === 'ask' ? [] : (['requestable', 'reviewer', 'answerWithinMs'] as const)),
    ...(effect === 'allow' ? [] : (['uses', 'delegable'] as const)),
  ].find((field) => rule[field] !== undefined)
  if (misplaced !== undefined)
    return invalidRule(
      `${misplaced} does not apply to a rule that is ${effect === 'allow' || effect === 'ask' ? 'an' : 'a'} ${effect}.`,
      'Leave it out.',
      { field: misplaced },
    )
  const evadable = (['maxBytes', 'env', 'action'] as const).find((name) => constraints?.[name] !== undefined)
  if (effect !== 'allow' && requestable !== true && evadable !== undefined)
    return invalidRule(
      `The constraint ${evadable} limits what is allowed; ${effect === 'ask' ? 'an ask' : 'a deny'} with it would be evaded by exceeding it.`,
      `Leave ${evadable} out, or give it to an allow.`,
      { constraint: evadable },
    )
  return undefined
}

/** A rule that no act is ever compared with would only look as if it counted. */
function refuseUnchecked(
  { effect, rights, resource }: Rule,
  kind: ResourceKind,
  isGiven: boolean,
): Refusal | undefined {
  const known = rightsOf(kind)
  if (known.length === 0)
    return invalidRule(
      `Nothing that rules are about is a ${kind} in this version, so a rule about ${resource} would never count.`,
      'Leave it out.',
      { field: 'resource' },
    )
  const isUnknown = (right: Right) => !known.includes(right)
  const wrong = isGiven || effect === 'allow' ? rights.find(isUnknown) : undefined
  if (wrong !== undefined)
    return invalidRule(
      isGiven
        ? `Nothing needs the right ${wrong} to ${kind}:…, so the rule would never count for it.`
        : `An allow of ${kind}:… has to name its rights.`,
      `The rights to ${kind}:… are ${known.join(', ')}.`,
      { field: 'rights' },
    )
  if (effect !== 'ask' || mayBeAsked(kind)) return undefined
  return invalidRule(
    `A rule cannot ask about ${kind}:…: only what registers a process waits for an answer.`,
    'Use allow or deny.',
    { field: 'effect' },
  )
}

function rightsIn(names: readonly string[]): readonly Right[] {
  return RIGHTS.filter((right) => names.includes(right))
}

function rightMeant(names: readonly string[]): string {
  const unknown = names.find((name) => !RIGHTS.some((right) => right === name))
  return unknown === undefined
    ? ''
    : ` There is no right ${JSON.stringify(unknown)}.${didYouMean(unknown, RIGHTS)}`
}

function isName(value: Json): boolean {
  return typeof value === 'string' && value !== '' && value.length <= MAX_NAME_CHARS
}

/** A name alone is that of an agent. */
function isReviewer(value: Json): boolean {
  return isName(value) && isMatch(value, /^(?:(?:tool|workflow|agent):)?[^:\s]+$/)
}

function isMatch(value: Json, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value)
}
