/** Longer waits are a mistake of the server. */
const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1_000

/** The wait that a provider asks for: in milliseconds, in seconds, or until a date. */
export function retryAfterMs(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const exact = positive(Number.parseFloat(headers['retry-after-ms'] ?? ''))
  if (exact !== undefined) return exact
  const given = headers['retry-after']
  if (given === undefined) return undefined
  return /^\s*\d+(\.\d+)?\s*$/.test(given)
    ? positive(Number(given) * 1_000)
    : positive(Date.parse(given) - now)
}

function positive(ms: number): number | undefined {
  return Number.isFinite(ms) && ms >= 0 ? Math.min(Math.ceil(ms), MAX_RETRY_AFTER_MS) : undefined
}
