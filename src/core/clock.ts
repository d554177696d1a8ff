/** Time, passed in. Milliseconds since 1970; it may jump either way, and nothing may break then. */
export interface Clock {
  now(): number
  /** Calls `task` once, `ms` from now, unless cancelled first. */
  after(ms: number, task: () => void): Cancel
}

export type Cancel = () => void
