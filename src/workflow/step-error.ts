/**
 * A step was tried for the last time. Message and `code` are those of the error that it threw; `cause` is that error, with its
 * name, code and causes, as the log has it.
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
