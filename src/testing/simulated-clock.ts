import type { Cancel, Clock } from '../core/clock.ts'

/** A clock that moves only when a test advances it. */
export interface SimulatedClock extends Clock {
  /** Lets time pass: runs the tasks that become due, in order, each at its own time. */
  advance(ms: number): void
  /** Sets the wall clock forward or back. No time passes, so no timer becomes due. */
  jump(ms: number): void
}

interface Task {
  readonly due: number
  readonly order: number
  readonly run: () => void
}

/** A time in November 2023: late enough to look like a time, and the same in every run. */
const START = 1_700_000_000_000

export function simulatedClock(start: number = START): SimulatedClock {
  const tasks = new Set<Task>()
  let elapsed = 0
  let wall = start
  let order = 0

  const next = (until: number): Task | undefined => {
    const due = [...tasks].filter((task) => task.due <= until)
    return due.sort((a, b) => a.due - b.due || a.order - b.order)[0]
  }
  const move = (to: number) => {
    wall += to - elapsed
    elapsed = to
  }

  return {
    now: () => wall,
    after(ms: number, run: () => void): Cancel {
      order += 1
      const task = { due: elapsed + Math.max(0, ms), order, run }
      tasks.add(task)
      return () => tasks.delete(task)
    },
    advance(ms: number): void {
      const until = elapsed + ms
      for (let task = next(until); task !== undefined; task = next(until)) {
        tasks.delete(task)
        move(Math.max(elapsed, task.due))
        task.run()
      }
      move(until)
    },
    jump(ms: number): void {
      wall += ms
    },
  }
}
