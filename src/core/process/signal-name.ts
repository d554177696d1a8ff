import { RefusedError } from '../errors.ts'
import { refusal } from '../refusal.ts'

export const SIGNAL_NAME = /^[A-Za-z0-9_-]{1,100}$/

export const SIGNAL_NAME_RULE = 'must be letters, digits, dashes and underscores'

/** Called before a wait: `send` refuses other names, so a wait for one of them would never end. */
export function checkSignalName(name: unknown): void {
  if (typeof name === 'string' && SIGNAL_NAME.test(name)) return
  throw new RefusedError(
    refusal(
      'invalid_input',
      `${JSON.stringify(name)} is not a valid signal name: it ${SIGNAL_NAME_RULE}.`,
      'Give it another name.',
    ),
  )
}
