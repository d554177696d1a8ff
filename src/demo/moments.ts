import type { Timeline } from './timeline.ts'
import { CHECKS, LETTERS } from './tools.ts'

/** Every other check and letter has ended in the worker, and the rest are halfway through. */
export function inTheMiddle(timeline: Timeline): Promise<void> {
  return timeline.until(() => {
    const pids = [...timeline.pidsOf('check'), ...timeline.pidsOf('letter')]
    const ends = pids.filter((pid) => timeline.has(pid, 'ended')).length
    return (
      pids.length === CHECKS + LETTERS &&
      pids.every((pid) => timeline.has(pid, 'halfway')) &&
      ends === pids.length / 2
    )
  })
}

/** The processes of the worker are settled: release, checks, letters and half of the checks go on; half of the letters do not. */
export function recovered(timeline: Timeline): Promise<void> {
  return timeline.until(
    () => timeline.ofType('holder_lost').length === 3 + CHECKS / 2 && abandoned(timeline) === LETTERS / 2,
  )
}

export function abandoned(timeline: Timeline): number {
  return timeline.events.filter((event) => event.type === 'ended' && event.payload.status === 'abandoned')
    .length
}

export function ended(timeline: Timeline, tool: string): boolean {
  return timeline.pidsOf(tool).every((pid) => timeline.has(pid, 'ended'))
}
