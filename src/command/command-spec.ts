import type { JsonObject } from '../core/json/json.ts'
import type { CommandSpec } from '../verbs/shapes/command-spec.ts'

/** The spec of a command, which its schema has checked when it was registered. */
export function commandSpecOf({ spec }: { readonly spec: JsonObject }): CommandSpec {
  return spec as JsonObject & CommandSpec
}
