import { isObject } from '../../base/is-object.ts'
import { type Json, type JsonObject, sizeOf } from '../../core/json/json.ts'
import { type Check, firstMisfit, sentenceOf } from './check.ts'
import { keywordChecks } from './keywords.ts'
import { Run } from './run.ts'

/** Returns how a payload misses the schema, or undefined if it fits. */
export type CheckPayload = (payload: Json) => string | undefined

const MAX_SCHEMA_BYTES = 64 * 1024
/** Nested subschemas, references included. */
const MAX_SCHEMA_DEPTH = 64
const MAX_SUBSCHEMAS = 2_000
/** The sum over all patterns of a schema; each state may be visited once per character. */
const MAX_PATTERN_STATES = 10_000

/**
 * Compiles a JSON Schema so that checking any payload takes bounded work: patterns are RE2, schemas have a bounded size, and a
 * check that takes too many steps is a misfit. Throws an `Error` that says why a schema cannot be used.
 */
export function compileSchema(schema: JsonObject): CheckPayload {
  const bytes = sizeOf(schema)
  if (bytes > MAX_SCHEMA_BYTES)
    throw new Error(`it has ${bytes} bytes, and at most ${MAX_SCHEMA_BYTES} are allowed`)
  const compiler = new SchemaCompiler(schema)
  const check = compiler.check(schema, '#', 0)
  compiler.refuseEndlessReferences()
  return (payload) =>
    Run.within(payload, (run) => {
      const misfits = check(payload, '', run)
      return misfits === undefined ? undefined : sentenceOf(misfits)
    })
}

const ACCEPT: Check = (_, _path, run) => {
  run.spend(1)
  return undefined
}

const REFUSE: Check = (_, path, run) => {
  run.spend(1)
  return [{ path, says: 'is not allowed' }]
}

interface Compiled {
  check: Check
  /** Schemas that apply to the same value as this one: a cycle of these would never end. */
  readonly sameValue: Set<JsonObject>
}

/** Compiles the subschemas of one schema. */
export class SchemaCompiler {
  readonly #root: JsonObject
  readonly #compiled = new Map<JsonObject, Compiled>()
  readonly #locations = new Map<JsonObject, string>()
  #patternStates = 0
  #subschemas = 0

  constructor(root: JsonObject) {
    this.#root = root
  }

  /** Compiles the subschema at `location`. Each is compiled once, however many references point to it. */
  check(schema: Json | undefined, location: string, depth: number): Check {
    if (typeof schema === 'boolean') {
      this.#countSubschema()
      return schema ? ACCEPT : REFUSE
    }
    if (!isObject(schema)) throw new Error(`${location} must be a schema: an object, true or false`)
    const known = this.#compiled.get(schema)
    // The schema may still be compiling: its check is looked up when it is applied.
    if (known !== undefined) return (value, path, run) => known.check(value, path, run)
    if (depth > MAX_SCHEMA_DEPTH) throw new Error(`${location} is nested more than ${MAX_SCHEMA_DEPTH} deep`)
    this.#countSubschema()
    const compiled: Compiled = { check: () => undefined, sameValue: new Set() }
    this.#compiled.set(schema, compiled)
    this.#locations.set(schema, location)
    const checks = keywordChecks(schema, { compiler: this, location, depth })
    compiled.check = (value, path, run) => run.enter(() => firstMisfit(checks, value, path, run))
    return compiled.check
  }

  /** Compiles a subschema that applies to the same value as `from`. */
  checkSameValue(from: JsonObject, schema: Json | undefined, location: string, depth: number): Check {
    if (isObject(schema)) this.#compiled.get(from)?.sameValue.add(schema)
    return this.check(schema, location, depth)
  }

  /** The schema that a local `$ref` points to. */
  target(reference: string, location: string): Json {
    if (!reference.startsWith('#'))
      throw new Error(`${location} refers to ${reference}, and only local references (#/…) can be followed`)
    const steps = decodeFragment(reference.slice(1)).split('/')
    if (steps[0] !== '') throw new Error(`${location} refers to an anchor, and only #/… can be followed`)
    let found: Json | undefined = this.#root
    for (const step of steps.slice(1))
      found = memberOf(found, step.replaceAll('~1', '/').replaceAll('~0', '~'))
    if (found === undefined) throw new Error(`${location} refers to ${reference}, which is not in the schema`)
    return found
  }

  /** Throws if the patterns of this schema together have become too large. */
  countPatternStates(states: number): void {
    this.#patternStates += states
    if (this.#patternStates > MAX_PATTERN_STATES)
      throw new Error('its patterns are too large once their repetitions are counted out')
  }

  #countSubschema(): void {
    if (++this.#subschemas > MAX_SUBSCHEMAS) throw new Error(`it has more than ${MAX_SUBSCHEMAS} subschemas`)
  }

  /** A value can't be checked against a schema that refers to itself for that same value. */
  refuseEndlessReferences(): void {
    const done = new Set<JsonObject>()
    const under = new Set<JsonObject>()
    const visit = (schema: JsonObject): void => {
      if (under.has(schema))
        throw new Error(`${this.#locations.get(schema) ?? '#'} refers to itself, so a check would never end`)
      if (done.has(schema)) return
      under.add(schema)
      for (const next of this.#compiled.get(schema)?.sameValue ?? []) visit(next)
      under.delete(schema)
      done.add(schema)
    }
    for (const schema of this.#compiled.keys()) visit(schema)
  }
}

function memberOf(value: Json | undefined, step: string): Json | undefined {
  if (Array.isArray(value)) return /^(0|[1-9][0-9]*)$/.test(step) ? value[Number(step)] : undefined
  return isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined
}

function decodeFragment(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
