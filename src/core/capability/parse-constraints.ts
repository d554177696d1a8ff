import { didYouMean } from '../../base/nearest-name.ts'
import type { Json, JsonObject } from '../json/json.ts'
import type { Refusal } from '../refusal.ts'
import { CONSTRAINTS, type ConstraintName, type Constraints } from './constraint.ts'
import { globProblem } from './glob.ts'
import { parseHost } from './host-pattern.ts'
import { DAYS, type Hours, hoursProblem } from './hours.ts'
import { invalidRule } from './invalid-rule.ts'
import type { ResourceKind } from './resource.ts'

/** More than any command line or policy needs, and few enough to compare at every check. */
const MAX_VALUES = 64
const MAX_VALUE_CHARS = 4096

/** The constraints of a rule about a kind of resource. An unknown one is refused. */
export function parseConstraints(json: Json, kind: ResourceKind): Constraints | Refusal {
  if (!isObject(json))
    return invalidRule('constraints must be an object.', `It may have ${CONSTRAINTS.join(', ')}.`)
  for (const [name, value] of Object.entries(json)) {
    if (!isConstraint(name))
      return invalidRule(
        `There is no constraint ${JSON.stringify(name)}.${didYouMean(name, CONSTRAINTS)}`,
        `Use ${CONSTRAINTS.join(', ')}.`,
        { constraint: name },
      )
    const kinds = KINDS[name]
    if (kinds !== undefined && !kinds.includes(kind))
      return invalidRule(
        `The constraint ${name} does not apply to resources of kind ${kind}.`,
        `Use it with ${kinds.map((known) => `${known}:`).join(' ')}`,
        { constraint: name },
      )
    const problem = PROBLEMS[name](value)
    if (problem !== undefined)
      return invalidRule(`The constraint ${name}: ${problem}.`, 'Correct it.', { constraint: name })
  }
  return withNormalHosts(json as Constraints)
}

/** The kinds whose needs have what the constraint compares; every kind if left out. */
const KINDS: { readonly [name in ConstraintName]?: readonly ResourceKind[] } = {
  args: ['shell'],
  env: ['shell'],
  paths: ['fs', 'tool'],
  maxBytes: ['fs', 'tool'],
  methods: ['net', 'tool', 'mcp'],
  hosts: ['net', 'tool', 'mcp'],
}

const PROBLEMS: { readonly [name in ConstraintName]: (value: Json) => string | undefined } = {
  args: (value) =>
    isList(value) && value.every((token) => isText(token) || (isTexts(token) && token.length > 0))
      ? undefined
      : 'it must be a list of arguments, each a text or a list of alternatives',
  paths: (value) => textsProblem(value, globProblem),
  maxBytes: (value) => (isCount(value) ? undefined : 'it must be a whole number of bytes'),
  methods: (value) =>
    textsProblem(value, (method) =>
      /^[A-Z]+$/.test(method) ? undefined : `${JSON.stringify(method)} is no method, as GET is`,
    ),
  hosts: (value) =>
    textsProblem(value, (host) =>
      parseHost(host) === undefined ? `${JSON.stringify(host)} is no host name` : undefined,
    ),
  env: (value) =>
    isList(value) && value.length === 0
      ? undefined
      : textsProblem(value, (name) =>
          /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
            ? undefined
            : `${JSON.stringify(name)} is no name of a variable`,
        ),
  action: (value) =>
    typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
      ? undefined
      : 'it must be the hash of an action',
  hours: (value) => (isHours(value) ? hoursProblem(value) : 'it must be { from, to, days, utcOffset }'),
}

function textsProblem(value: Json, problemOf: (text: string) => string | undefined): string | undefined {
  if (!isTexts(value) || value.length === 0) return `it must be a list of 1 to ${MAX_VALUES} texts`
  return value.map(problemOf).find((problem) => problem !== undefined)
}

function isHours(value: Json): value is Json & Hours {
  if (!isObject(value)) return false
  const { from, to, days, utcOffset, ...others } = value
  return (
    Object.keys(others).length === 0 &&
    isText(from) &&
    isText(to) &&
    (days === undefined ||
      (isTexts(days) && days.length > 0 && days.every((day) => DAYS.some((known) => known === day)))) &&
    (utcOffset === undefined || isText(utcOffset))
  )
}

function withNormalHosts(constraints: Constraints): Constraints {
  const { hosts } = constraints
  return hosts === undefined
    ? constraints
    : { ...constraints, hosts: hosts.map((host) => parseHost(host) ?? host) }
}

function isConstraint(name: string): name is ConstraintName {
  return CONSTRAINTS.some((known) => known === name)
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value) && value.length <= MAX_VALUES
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value.length <= MAX_VALUE_CHARS
}

export function isTexts(value: Json | undefined): value is readonly string[] {
  return isList(value) && value.every(isText)
}

export function isCount(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
