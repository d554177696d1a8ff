/**
 * A step has failed for good. It has the message and the `code` of the error that the step threw last. `cause` is that error as
 * the log keeps it, with its name, code and causes.
 */
export class StepError extends Error {
  override readonly name = 'StepError'
  readonly step: string
  readonly code: string | number | undefined
  constructor(step: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.step = step
    const { code } = Object(cause) as { readonly code?: unknown }
    this.code = typeof code === 'string' || typeof code === 'number' ? code : undefined
  }
}
