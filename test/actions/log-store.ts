import type { ProcessEvent } from '../../src/core/process/event.ts'
import type { Store } from '../../src/store/contract.ts'

interface Asked {
  readonly ask: string
  readonly before?: number
  readonly after?: number
  readonly limit?: number
  readonly seq?: number
  readonly replayKey?: string
}

/** Answers the questions of readers of a log from a list of events, and counts the events of its pages. */
export function logStore(events: readonly ProcessEvent[]) {
  const asked = { events: 0 }
  const given = (found: readonly ProcessEvent[]) => {
    asked.events += found.length
    return found
  }
  const ask = async (question: Asked) => {
    const { before = events.length + 1, after = 0, limit = 0 } = question
    switch (question.ask) {
      case 'eventAt':
        return events[(question.seq ?? 0) - 1] ?? null
      case 'event':
        return events.find(({ replayKey }) => replayKey === question.replayKey) ?? null
      case 'events':
        return given(events.slice(after, after + limit))
      default:
        return given(events.slice(Math.max(0, before - 1 - limit), before - 1))
    }
  }
  const untyped: unknown = { ask }
  return { store: untyped as Store, asked }
}
