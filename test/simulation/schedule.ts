import type { Cancel } from '../../src/core/clock.ts'

/** The owner of a task. The tasks of a sleeping owner wait; tasks without an owner never do. */
export interface Doer {
  readonly name: string
  readonly awake: boolean
}

export interface Task {
  readonly doer: Doer
  readonly what: string
  readonly run: () => void
}

interface Timer extends Task {
  readonly at: number
  readonly order: number
}

/** A plausible time, in whole milliseconds, as a real clock gives. */
const BEGINNING = 1_700_000_000_000

/** All tasks and timers that could run next, and the time. Nothing runs unless the simulator takes it from here. */
export class Schedule {
  now = BEGINNING
  #ready: Task[] = []
  #timers: Timer[] = []
  #order = 0

  soon(doer: Doer, what: string, run: () => void): void {
    this.#ready.push({ doer, what, run })
  }

  /** Real timers use a monotonic clock: jumps of `Date.now` do not move them. */
  after(doer: Doer, ms: number, what: string, run: () => void): Cancel {
    const timer = { doer, what, run, at: this.now + Math.max(1, Math.ceil(ms)), order: this.#order++ }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  /** The tasks that can run now. */
  get runnable(): readonly Task[] {
    return this.#ready.filter(({ doer }) => doer.awake)
  }

  get nextTimer(): Timer | undefined {
    return this.#timers.filter(({ doer }) => doer.awake).sort((a, b) => a.at - b.at || a.order - b.order)[0]
  }

  run(task: Task): void {
    this.#ready = this.#ready.filter((other) => other !== task)
    task.run()
  }

  /** Advances time until this timer is due, unless it is overdue because its owner slept, and fires it. */
  fire(timer: Timer): void {
    this.#timers = this.#timers.filter((other) => other !== timer)
    this.now = Math.max(this.now, timer.at)
    timer.run()
  }

  /** Drops all tasks and timers of a dead owner. */
  drop(doer: Doer): void {
    this.#ready = this.#ready.filter((task) => task.doer !== doer)
    this.#timers = this.#timers.filter((timer) => timer.doer !== doer)
  }
}
