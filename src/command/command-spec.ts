import type { JsonObject } from '../core/json/json.ts'
import { startSpecOf } from '../core/process/spec.ts'
import type { CommandSpec } from '../verbs/shapes/command-spec.ts'

/**
 * The spec that a command is started with: the one of its approval, if a person changed it, else that of its registration. Its
 * schema has checked it.
 */
export function commandSpecOf(record: {
  readonly spec: JsonObject
  readonly effectiveSpec?: JsonObject | null
}): CommandSpec {
  return startSpecOf(record) as JsonObject & CommandSpec
}
