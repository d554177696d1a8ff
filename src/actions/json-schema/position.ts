import { isObject } from '../../base/is-object.ts'
import type { Json, JsonObject } from '../../core/json/json.ts'
import type { SchemaCompiler } from './compile.ts'

/** The position of a subschema while it is compiled. */
export interface SchemaPosition {
  readonly compiler: SchemaCompiler
  readonly location: string
  readonly depth: number
}

/** The members of a keyword whose value maps names to something. */
export function membersOf(
  schema: JsonObject,
  keyword: string,
  { location }: SchemaPosition,
): [string, Json][] {
  const given = schema[keyword]
  if (given === undefined) return []
  if (!isObject(given)) throw new Error(`${location}/${keyword} must be an object`)
  return Object.entries(given)
}

/** The value of a keyword that takes a number. */
export function limitOf(
  schema: JsonObject,
  keyword: string,
  { location }: SchemaPosition,
): number | undefined {
  const given = schema[keyword]
  if (given === undefined || typeof given === 'number') return given
  throw new Error(`${location}/${keyword} must be a number`)
}
