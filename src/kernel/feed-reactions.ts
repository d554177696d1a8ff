import { type EventOf, knownEvent, type StoredEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { AttemptStops } from './attempt-stops.ts'
import type { RunningAttempts } from './running-attempts.ts'
import type { ServedProcesses } from './served-processes.ts'
import type { SettledElsewhere } from './settled-elsewhere.ts'
import type { WorkClaims } from './work-claims.ts'

export interface FeedReactionsParts {
  readonly served: ServedProcesses
  readonly running: RunningAttempts
  readonly claims: WorkClaims
  readonly stops: AttemptStops
  readonly settledElsewhere: SettledElsewhere
}

/**
 * How the executions of one holder react to the feed.
 *
 * | event of the feed                                  | reaction                                       |
 * | registered, queued again, resumed, approved        | looks for work, if it serves the kind          |
 * | wait left, by a process that is not executed here   | looks for work: the process may have been parked |
 * | turn begun, by an agent that is not executed here | looks for work                                 |
 * | parked                                             | looks for work when the process is due         |
 * | stop requested, of a process that is executed here | see `AttemptStops`                             |
 * | paused, resumed, of a process that is executed here | tells its executor                             |
 * | ended by another kernel, held by a keeper          | ends its program, see `SettledElsewhere`       |
 */
export class FeedReactions {
  readonly #parts: FeedReactionsParts

  constructor(parts: FeedReactionsParts) {
    this.#parts = parts
  }

  /** Handles events of the feed. */
  heard(events: readonly StoredEvent[]): void {
    const { served, running, claims, stops, settledElsewhere } = this.#parts
    const waiting = new Set<Pid>()
    for (const event of events) {
      const known = knownEvent(event)
      switch (known?.type) {
        case 'registered':
          if (!running.has(known.pid) && served.wouldRun(known.payload)) waiting.add(known.pid)
          break
        case 'wait_left':
          if (served.hasParked && !running.has(known.pid)) waiting.add(known.pid)
          break
        case 'turn_begun':
          if (!running.has(known.pid)) waiting.add(known.pid)
          break
        case 'parked':
          this.#parked(known)
          break
        case 'holder_lost':
        case 'released':
        case 'approval_settled':
          waiting.add(known.pid)
          break
        case 'resumed':
          running.get(known.pid)?.request({ type: 'resume' })
          waiting.add(known.pid)
          break
        case 'started':
          waiting.delete(known.pid)
          break
        case 'stop_requested':
          stops.requested(known)
          break
        case 'ended':
          if (served.keeping !== undefined) settledElsewhere.ended(event)
          break
        case 'paused':
          running.get(known.pid)?.request({ type: 'pause' })
          break
      }
    }
    if (waiting.size > 0) claims.look()
  }

  #parked({ payload }: EventOf<'parked'>): void {
    const { served, claims } = this.#parts
    if (payload.until !== null && served.hasParked) claims.lookAt(payload.until)
  }
}
