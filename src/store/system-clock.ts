import type { Clock } from '../core/clock.ts'

/** Node counts no further; what is due later is waited for in stretches. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after: (ms, task) => {
    let timer: NodeJS.Timeout
    const wait = (left: number) => {
      const stretch = Math.min(left, MAX_TIMER_MS)
      timer = setTimeout(() => (stretch < left ? wait(left - stretch) : task()), stretch)
    }
    wait(ms)
    return () => clearTimeout(timer)
  },
}
