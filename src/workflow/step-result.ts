import { ReeveError, RefusedError } from '../core/errors.ts'
import type { StepEnded } from '../core/process/step-event.ts'
import { encode } from '../core/value/encode.ts'
import { unstorable } from '../core/value/stored-value.ts'
import { encodeThrown } from '../core/value/thrown.ts'

type Ending = DistributiveOmit<StepEnded, 'stepIndex' | 'kind' | 'name' | 'began' | 'tries'>
type DistributiveOmit<Union, Keys extends PropertyKey> = Union extends unknown ? Omit<Union, Keys> : never

/** `undefined` is stored as an absent value. A step whose result cannot be stored has failed for good, and does not run again. */
export function resultToStore(step: string, result: unknown): Ending {
  if (result === undefined) return { how: 'done' }
  const encoded = encode(result)
  if (encoded.type === 'encoded') return { how: 'done', value: encoded.json }
  return failed(new RefusedError(unstorable(`The result of step ${step}`, encoded.why)))
}

/** The failure of a step whose result is too large for the store or for a request to it. */
export function failedAsTooLarge(step: string, error: ReeveError): Ending {
  if (error.code === 'payload_too_large') return failed(error)
  return failed(
    new ReeveError(error.code, `The result of step ${step} cannot be stored: ${error.message}`, error.remedy),
  )
}

function failed(error: ReeveError): Ending {
  return { how: 'failed', error: error.message, thrown: encodeThrown(error) }
}

export function isTooLarge(error: unknown): error is ReeveError {
  return (
    error instanceof ReeveError && (error.code === 'payload_too_large' || error.code === 'body_too_large')
  )
}
