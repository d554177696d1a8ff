/**
 * For how long one call may take before a client gives up on it, with some seconds to spare. Whoever waits longer than that
 * is told "not yet" in time, and asks again.
 *
 * A progress token says nothing about it: some clients send one with every call, and give up nevertheless.
 */
export function patienceOf(clientName: string): number {
  const name = clientName.toLowerCase()
  return KNOWN.find(([begins]) => name.startsWith(begins))?.[1] ?? UNKNOWN_MS
}

/** The default of the TypeScript SDK is 60 s, and most clients leave it at that. */
const UNKNOWN_MS = 50_000

/** By how the name begins that a client gives itself. Found by trying: Codex 300 s, Gemini CLI 600 s; Claude Code drops HTTP after 120 s. */
const KNOWN: readonly (readonly [string, number])[] = [
  ['codex-', 240_000],
  ['gemini-cli', 240_000],
  ['claude-code', 110_000],
]
