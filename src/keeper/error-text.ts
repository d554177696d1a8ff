/** What an error says, for whoever asked. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** And where it came from, for the keeper's log. */
export function traceOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** The system's name for it, `ENOENT`; undefined if it is no error of the system. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
