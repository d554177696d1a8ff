import { RequestError } from '@agentclientprotocol/sdk'
import { messageOf } from '../base/error-text.ts'
import { ReeveError } from '../core/errors.ts'

const INVALID_PARAMS = -32602
const INTERNAL = -32603

/** Errors of Reeve that are about the request. All others are about the state of things. */
const OF_REQUEST: ReadonlySet<string> = new Set([
  'invalid_input',
  'invalid_request',
  'invalid_rule',
  'payload_too_large',
  'not_available',
])

/** An error as the protocol has it: what happened and what to do in the message, the code of Reeve in the data. */
export function requestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error
  if (!(error instanceof ReeveError)) return new RequestError(INTERNAL, messageOf(error))
  const { code, message, remedy } = error
  const number = OF_REQUEST.has(code) ? INVALID_PARAMS : INTERNAL
  return new RequestError(number, `${message} ${remedy}`, { code })
}

/** Errors of Reeve become errors of the protocol. */
export async function answering<Answer>(act: () => Promise<Answer>): Promise<Answer> {
  try {
    return await act()
  } catch (error) {
    throw requestError(error)
  }
}

export function isReeveCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof ReeveError && codes.includes(error.code)
}
