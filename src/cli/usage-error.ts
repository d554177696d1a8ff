/** It was called in a way that it does not understand: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly remedy: string

  constructor(message: string, remedy: string) {
    super(message)
    this.remedy = remedy
  }
}
