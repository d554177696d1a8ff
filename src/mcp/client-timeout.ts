/**
 * How long one call may take before the client gives up on it, with some seconds to spare. A longer wait is answered with
 * "not yet" in time, and the model calls again.
 *
 * A progress token does not extend the time: some clients send one with every call and still give up.
 */
export function clientTimeoutMs(clientName: string): number {
  const name = clientName.toLowerCase()
  return KNOWN.find(([begins]) => name.startsWith(begins))?.[1] ?? DEFAULT_MS
}

/** The default of the TypeScript SDK is 60 s, and most clients leave it at that. */
const DEFAULT_MS = 50_000

/** By the beginning of the client's name. Measured: Codex 300 s, Gemini CLI 600 s; Claude Code drops HTTP after 120 s. */
const KNOWN: readonly (readonly [string, number])[] = [
  ['codex-', 240_000],
  ['gemini-cli', 240_000],
  ['claude-code', 110_000],
]
