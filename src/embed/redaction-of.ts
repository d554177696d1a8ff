import { messageOf } from '../base/error-text.ts'
import { RefusedError } from '../core/errors.ts'
import { refusal } from '../core/refusal.ts'
import { Redaction } from '../redaction/redaction.ts'
import type { Store } from '../store/contract.ts'
import type { EmbedOptions } from './options.ts'

/** The secrets that the options name. An invalid pattern is refused. */
export function redactionOf({ redact = true, store }: Pick<EmbedOptions, 'redact' | 'store'>): Redaction {
  try {
    const redaction = new Redaction(redact)
    redaction.know(passwordsIn(store))
    return redaction
  } catch (error) {
    const said = messageOf(error)
    const message = `embed was given something it cannot use: redact.patterns: ${said}.`
    throw new RefusedError(
      refusal('invalid_input', message, 'Patterns are RE2: no look-around, no back-references.'),
    )
  }
}

/** The password in the URL of a store. */
function passwordsIn(store: string | Store): string[] {
  if (typeof store !== 'string' || !URL.canParse(store)) return []
  const { password } = new URL(store)
  try {
    return [password, decodeURIComponent(password)]
  } catch {
    return [password]
  }
}
