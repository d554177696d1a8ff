/** What one script may use. */
export interface ScriptLimits {
  /** Of its VM. */
  readonly memoryBytes: number
  /** How long it may compute without a break: until it waits for a call, or ends. */
  readonly computeMs: number
  /** How long it may take as a whole. Time in which it waits for a person does not count. */
  readonly runMs: number
  /** How long it waits in memory. After that its state is stored, and it leaves memory. */
  readonly idleMs: number
}

export const SCRIPT_LIMITS: ScriptLimits = {
  memoryBytes: 64 * 1024 * 1024,
  computeMs: 10_000,
  runMs: 600_000,
  idleMs: 1_000,
}

/** Calls of tools by one script: more are a loop that does not end. */
export const MAX_CALLS = 256

/** Tokens of text that a script returns and prints: a prompt has both. */
const MAX_OUTPUT_TOKENS = 10_000
/** JSON is dense: its tokens are shorter than those of prose. */
const CHARS_PER_TOKEN = 3.5
export const MAX_OUTPUT_CHARS = MAX_OUTPUT_TOKENS * CHARS_PER_TOKEN

/** Of the input of one call, and of its result as a script gets it. */
export const MAX_CALL_CHARS = 256 * 1024

/** Of the source of a script. A person reads it before it is registered. */
export const MAX_SOURCE_CHARS = 64 * 1024
