interface Issue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** Enough to correct a file. */
const MAX_ISSUES = 5

/** Why a file does not fit its schema: the first issue of each field, because what follows from it misleads. */
export function issuesText(issues: readonly Issue[]): string {
  const first = new Map<string, string>()
  for (const { path, message } of issues) {
    const field = path.map(String).join('.')
    if (!first.has(field)) first.set(field, field === '' ? message : `${field}: ${message}`)
  }
  return [...first.values()].slice(0, MAX_ISSUES).join('; ')
}
