/** The default and the maximal time of a `wait`. */
export interface WaitTimes {
  readonly defaultMs: number
  readonly mostMs: number
}

export const WAIT_TIMES: WaitTimes = { defaultMs: 180_000, mostMs: 24 * 60 * 60 * 1_000 }
