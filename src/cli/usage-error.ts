/** A wrong call of the command line: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly remedy: string

  constructor(message: string, remedy: string) {
    super(message)
    this.remedy = remedy
  }
}
