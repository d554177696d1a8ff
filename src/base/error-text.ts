/** The message of a thrown value, for the person or program that asked. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The stack trace of a thrown value, for a log. */
export function traceOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** The code of an error, of the system (`ENOENT`) or of Reeve (`already_ended`); undefined if it has none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
