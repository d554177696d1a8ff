import { messageOf } from '../base/error-text.ts'
import { RefusedError } from '../core/errors.ts'
import type { JsonObject } from '../core/json/json.ts'
import { refusal } from '../core/refusal.ts'
import { compileSchema } from './json-schema/compile.ts'

/** Compiling a schema takes up to 2 ms. */
const MAX_SCHEMAS = 200

/** The schemas of event types that one call declares. An unusable schema is refused now, not at the first event. */
export class DeclaredSchemas {
  readonly #checked = new Set<string>()

  check(eventType: string, schema: JsonObject): void {
    try {
      const text = JSON.stringify(schema)
      if (this.#checked.has(text)) return
      this.#checked.add(text)
      if (this.#checked.size <= MAX_SCHEMAS) compileSchema(schema)
    } catch (error) {
      const why = messageOf(error)
      throw new RefusedError(
        refusal(
          'invalid_input',
          `The schema of event type ${eventType} cannot be used: ${why.replace(/\.$/, '')}.`,
          'Correct the schema. Patterns are RE2: no look-around, no back-references.',
          { eventType },
        ),
      )
    }
    if (this.#checked.size > MAX_SCHEMAS)
      throw new RefusedError(
        refusal(
          'invalid_input',
          `This call declares more than ${MAX_SCHEMAS} different schemas of event types.`,
          'Register fewer processes at once, or let event types share a schema.',
        ),
      )
  }
}
