/** The settings of the job that keeps long-term memory. */
export interface MemoryTimes {
  /** The model of agents that name none for their memory; their own if it is left out. */
  readonly model?: string
  /** How long one call of the model may take. */
  readonly timeoutMs: number
}

export const MEMORY_TIMEOUT_MS = 120_000
