/** A step was tried for the last time. The message is the one of the error that it threw. */
export class StepError extends Error {
  override readonly name = 'StepError'
  readonly step: string
  constructor(step: string, message: string) {
    super(message)
    this.step = step
  }
}
