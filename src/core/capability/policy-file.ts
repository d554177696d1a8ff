import { didYouMean } from '../../base/nearest-name.ts'
import { canonical } from '../json/canonical.ts'
import type { Json, JsonObject } from '../json/json.ts'
import { type JsonPath, type LocatedJson, parseLocated } from '../json/located-json.ts'
import { isRefusal, type Refusal } from '../refusal.ts'
import { type NeedsOfCommandLine, refuseExamples } from './examples.ts'
import { isObject } from './parse-constraints.ts'
import { parseRule } from './parse-rule.ts'
import { presetRules } from './presets.ts'
import type { Rule } from './rule.ts'

/** A wrong place of a policy file. */
export interface PolicyProblem {
  readonly line: number
  readonly message: string
  readonly remedy: string
}

export interface PolicyFileAnswer {
  /** The rules of its preset and its own. Paths in them are relative to the workspace. */
  readonly rules: readonly Rule[]
  /** If there is one, the file is not used at all. */
  readonly problems: readonly PolicyProblem[]
}

const POLICY_KEYS = ['$schema', 'preset', 'rules'] as const

/** Enough for any file that people write. */
export const MAX_FILE_RULES = 1_000

/** Counts and links of one store make no sense in a file that many stores read. */
const NOT_IN_FILES = ['uses', 'delegable', 'revocable'] as const

/**
 * The rules of a policy file, with their examples verified. `needsOf` gives the needs of a command line, `hash` the hex text of a
 * collision-free hash, which names the rules without an id.
 */
export function parsePolicyFile(
  text: string,
  needsOf: NeedsOfCommandLine,
  hash: (text: string) => string,
): PolicyFileAnswer {
  const json = parseLocated(text)
  if (json.type === 'problem')
    return {
      rules: [],
      problems: [{ line: json.line, message: json.message, remedy: 'Correct the JSON.' }],
    }
  const { value } = json
  if (!isObject(value))
    return failed(json, [], 'A policy file holds one object.', 'Write { "rules": [ … ] }.')
  const found = [wrongKey(json, value), ...presetIn(json, value), ...rulesIn(json, value, needsOf, hash)]
  const rules = found.flatMap((one) => (one !== undefined && 'effect' in one ? [one] : []))
  const problems = found.flatMap((one) => (one !== undefined && 'line' in one ? [one] : []))
  const repeated = repeatedId(json, rules)
  return { rules, problems: repeated === undefined ? problems : [...problems, repeated] }
}

function wrongKey(json: LocatedJson, value: JsonObject): PolicyProblem | undefined {
  const key = Object.keys(value).find((one) => !POLICY_KEYS.some((known) => known === one))
  if (key === undefined) return undefined
  return problem(
    json,
    [key],
    `A policy file has no key ${JSON.stringify(key)}.${didYouMean(key, POLICY_KEYS)}`,
    `It may have ${POLICY_KEYS.join(', ')}.`,
  )
}

function presetIn(json: LocatedJson, { preset }: JsonObject): readonly (Rule | PolicyProblem)[] {
  if (preset === undefined) return []
  if (typeof preset !== 'string')
    return [problem(json, ['preset'], 'preset must be a name.', 'Write "preset": "edit", for example.')]
  const rules = presetRules(preset)
  return isRefusal(rules) ? [refused(json, ['preset'], rules)] : rules
}

function rulesIn(
  json: LocatedJson,
  { rules = [] }: JsonObject,
  needsOf: NeedsOfCommandLine,
  hash: (text: string) => string,
): readonly (Rule | PolicyProblem)[] {
  if (!Array.isArray(rules))
    return [problem(json, ['rules'], 'rules must be a list.', 'Write "rules": [ … ].')]
  if (rules.length > MAX_FILE_RULES)
    return [problem(json, ['rules'], `There are more than ${MAX_FILE_RULES} rules.`, 'Remove some.')]
  const idOf = idsByContent(hash)
  return (rules as readonly Json[]).map((rule, index) => {
    const parsed = parseRule(rule, idOf(rule))
    if (isRefusal(parsed)) return refused(json, placeOf(index, rule, parsed), parsed)
    const misplaced = NOT_IN_FILES.find((field) => parsed[field] !== undefined)
    if (misplaced !== undefined)
      return problem(
        json,
        ['rules', index, misplaced],
        `A rule of a policy file has no ${misplaced}.`,
        'Leave it out, or add the rule with reeve policy add.',
      )
    const wrong = refuseExamples(parsed, needsOf)
    return wrong === undefined ? parsed : refused(json, placeOf(index, rule, wrong), wrong)
  })
}

/** Members of a rule that say nothing about its effect. */
const NOT_IN_NAMES: readonly string[] = ['id', 'justification', 'match', 'nonmatch']

/**
 * Names rules by what they say: the answers to the requests of a rule count for that rule, and not for another one that takes its
 * place in a later version of the file. Equal rules are numbered.
 */
function idsByContent(hash: (text: string) => string): (rule: Json) => string {
  const seen = new Map<string, number>()
  return (rule) => {
    const members = Object.entries(isObject(rule) ? rule : {})
    const content = Object.fromEntries(members.filter(([name]) => !NOT_IN_NAMES.includes(name)))
    const id = `f-${hash(canonical(content)).slice(0, 16)}`
    const count = (seen.get(id) ?? 0) + 1
    seen.set(id, count)
    return count === 1 ? id : `${id}-${count}`
  }
}

/** The part of the file that a refusal is about. */
function placeOf(index: number, rule: Json, { details = {} }: Refusal): JsonPath {
  const { field, constraint, example } = details
  const path: (string | number)[] = ['rules', index]
  if (typeof constraint === 'string') return [...path, 'constraints', constraint]
  if (typeof field !== 'string') return isObject(rule) && 'resource' in rule ? [...path, 'resource'] : path
  const examples = isObject(rule) ? rule[field] : undefined
  const at = Array.isArray(examples) ? examples.indexOf(example) : -1
  return at === -1 ? [...path, field] : [...path, field, at]
}

function repeatedId(json: LocatedJson, rules: readonly Rule[]): PolicyProblem | undefined {
  const seen = new Set<string>()
  for (const { id } of rules) {
    if (seen.has(id))
      return problem(json, ['rules'], `Two rules have the id ${id}.`, 'Leave the ids out, or change one.')
    seen.add(id)
  }
  return undefined
}

function refused(json: LocatedJson, path: JsonPath, { message, remedy }: Refusal): PolicyProblem {
  return problem(json, path, message, remedy)
}

function problem({ lineOf }: LocatedJson, path: JsonPath, message: string, remedy: string): PolicyProblem {
  return { line: lineOf(path), message, remedy }
}

function failed(json: LocatedJson, path: JsonPath, message: string, remedy: string): PolicyFileAnswer {
  return { rules: [], problems: [problem(json, path, message, remedy)] }
}
