import type { JsonObject } from '../json/json.ts'

/** The rules of one subject: `home`, `workspace:<path>`, `session:<id>` or `process:<pid>`. */
export interface RuleSet {
  readonly subject: string
  readonly rules: readonly JsonObject[]
  /** In a closed set, what nothing allows is denied. */
  readonly closed: boolean
  /** The file that the rules were loaded from. */
  readonly source: { readonly path: string; readonly hash: string } | null
  readonly trusted: boolean
}
