import type { Json, JsonObject } from '../../core/json/json.ts'
import { arrayChecks } from './arrays.ts'
import { type Check, MAX_ALTERNATIVES, type Misfit, shown } from './check.ts'
import { equal } from './equal.ts'
import { objectChecks } from './objects.ts'
import { membersOf, type SchemaPosition } from './position.ts'
import { numberChecks, stringChecks } from './scalars.ts'

/** Keywords that change the meaning of others, and are not implemented: ignoring them would accept invalid payloads. */
const UNSUPPORTED = [
  '$dynamicRef',
  '$recursiveRef',
  'unevaluatedItems',
  'unevaluatedProperties',
  'dependencies',
]

/** The checks of one schema. Unknown keywords are annotations, as in the JSON Schema specification. */
export function keywordChecks(schema: JsonObject, position: SchemaPosition): Check[] {
  const unsupported = UNSUPPORTED.find((keyword) => schema[keyword] !== undefined)
  if (unsupported !== undefined)
    throw new Error(`${position.location} has ${unsupported}, which is not supported`)
  // Compiled even if unused, so that registration reports their errors.
  for (const keyword of ['$defs', 'definitions'])
    for (const [name, definition] of membersOf(schema, keyword, position))
      position.compiler.check(definition, `${position.location}/${keyword}/${name}`, position.depth + 1)
  return [
    ...typeCheck(schema, position),
    ...valueChecks(schema, position),
    ...numberChecks(schema, position),
    ...stringChecks(schema, position),
    ...arrayChecks(schema, position),
    ...objectChecks(schema, position),
    ...combinations(schema, position),
  ]
}

const TYPES = ['null', 'boolean', 'object', 'array', 'number', 'string', 'integer']

function typeCheck({ type }: JsonObject, { location }: SchemaPosition): Check[] {
  if (type === undefined) return []
  const wanted = Array.isArray(type) ? type : [type]
  for (const one of wanted)
    if (typeof one !== 'string' || !TYPES.includes(one))
      throw new Error(`${location}/type is ${JSON.stringify(one)}, which is not one of ${TYPES.join(', ')}`)
  if (new Set(wanted).size < wanted.length) throw new Error(`${location}/type names a type twice`)
  const says = `must be ${wanted.join(' or ')}`
  return [
    (value, path) =>
      wanted.some((one) => isOfType(value, one))
        ? undefined
        : [{ path, says: `${says}, and is ${typeOf(value)}` }],
  ]
}

function typeOf(value: Json): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}

function isOfType(value: Json, type: string): boolean {
  return type === 'integer' ? Number.isInteger(value) : typeOf(value) === type
}

function valueChecks(schema: JsonObject, { location }: SchemaPosition): Check[] {
  const checks: Check[] = []
  const { const: only, enum: allowed } = schema
  if (only !== undefined) {
    const says = `must be ${shown(only)}`
    checks.push((value, path, run) => (equal(value, only, run) ? undefined : [{ path, says }]))
  }
  if (allowed !== undefined) {
    if (!Array.isArray(allowed)) throw new Error(`${location}/enum must be a list`)
    const scalars = new Set(allowed.filter((one) => typeof one !== 'object'))
    const others = allowed.filter((one) => typeof one === 'object')
    const says = `must be one of ${shown(allowed)}`
    checks.push((value, path, run) =>
      scalars.has(value) || others.some((one) => equal(value, one, run)) ? undefined : [{ path, says }],
    )
  }
  return checks
}

function combinations(schema: JsonObject, position: SchemaPosition): Check[] {
  const { compiler, location, depth } = position
  const at = (keyword: string) => `${location}/${keyword}`
  const one = (keyword: string) => compiler.checkSameValue(schema, schema[keyword], at(keyword), depth + 1)
  const several = (keyword: string) => {
    const given = schema[keyword]
    if (!Array.isArray(given) || given.length === 0)
      throw new Error(`${at(keyword)} must be a list of schemas`)
    return given.map((inner, index) =>
      compiler.checkSameValue(schema, inner, `${at(keyword)}/${index}`, depth + 1),
    )
  }
  const checks: Check[] = []
  const { $ref: reference } = schema
  if (reference !== undefined) {
    if (typeof reference !== 'string') throw new Error(`${at('$ref')} must be a text`)
    const target = compiler.target(reference, location)
    checks.push(compiler.checkSameValue(schema, target, reference, depth + 1))
  }
  if (schema['allOf'] !== undefined) checks.push(...several('allOf'))
  if (schema['anyOf'] !== undefined) checks.push(anyOf(several('anyOf')))
  if (schema['oneOf'] !== undefined) checks.push(oneOf(several('oneOf')))
  if (schema['not'] !== undefined) {
    const not = one('not')
    const says = `must not fit ${at('not')}`
    checks.push((value, path, run) => (not(value, path, run) === undefined ? [{ path, says }] : undefined))
  }
  if (schema['if'] !== undefined) {
    const condition = one('if')
    const [then, otherwise] = ['then', 'else'].map((keyword) =>
      schema[keyword] === undefined ? undefined : one(keyword),
    )
    checks.push((value, path, run) =>
      (condition(value, path, run) === undefined ? then : otherwise)?.(value, path, run),
    )
  }
  return checks
}

function anyOf(alternatives: readonly Check[]): Check {
  return (value, path, run) => {
    const misfits: Misfit[] = []
    for (const alternative of alternatives) {
      const misfit = alternative(value, path, run)
      if (misfit === undefined) return undefined
      misfits.push(...misfit.slice(0, MAX_ALTERNATIVES - misfits.length))
    }
    return misfits
  }
}

function oneOf(alternatives: readonly Check[]): Check {
  return (value, path, run) => {
    const misfits: Misfit[] = []
    let fitting = 0
    for (const alternative of alternatives) {
      const misfit = alternative(value, path, run)
      if (misfit === undefined) fitting++
      else misfits.push(...misfit.slice(0, MAX_ALTERNATIVES - misfits.length))
    }
    if (fitting === 1) return undefined
    if (fitting > 1) return [{ path, says: `must fit exactly one alternative, and fits ${fitting}` }]
    return misfits
  }
}
