import type { Cancel } from '../../src/core/clock.ts'

/** Whose task it is. A sleeper's tasks wait; nobody's never do. */
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

/** Early enough to be plausible, and a whole number of milliseconds, as a real clock gives. */
const BEGINNING = 1_700_000_000_000

/** All that could happen next, and the time. Nothing happens unless the simulator takes it from here. */
export class Schedule {
  now = BEGINNING
  #ready: Task[] = []
  #timers: Timer[] = []
  #order = 0

  soon(doer: Doer, what: string, run: () => void): void {
    this.#ready.push({ doer, what, run })
  }

  /** Real timers go by a monotonic clock: jumps of `Date.now` do not move them. */
  after(doer: Doer, ms: number, what: string, run: () => void): Cancel {
    const timer = { doer, what, run, at: this.now + Math.max(1, Math.ceil(ms)), order: this.#order++ }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  /** What can run at this moment. */
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

  /** Time passes until this timer is due, if it is not overdue already (its doer slept), and it fires. */
  fire(timer: Timer): void {
    this.#timers = this.#timers.filter((other) => other !== timer)
    this.now = Math.max(this.now, timer.at)
    timer.run()
  }

  /** The dead do nothing any more. */
  drop(doer: Doer): void {
    this.#ready = this.#ready.filter((task) => task.doer !== doer)
    this.#timers = this.#timers.filter((timer) => timer.doer !== doer)
  }
}
