import { MAX_TIMER_MS } from '../base/max-timer-ms.ts'
import type { Clock } from '../core/clock.ts'

/** The clock of this machine. */
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
