import { type LoggedEvent, turnOf } from '../log-view.ts'

/** Events of the open turn that may still be rolled back, in order. */
export type HeldTurn = readonly LoggedEvent[]

/**
 * One step along the log towards its end, without turns that were rolled back. The events of a turn are held until it has output or has
 * ended: from then on it stays.
 */
export function stepForward(
  held: HeldTurn,
  event: LoggedEvent,
): { readonly held: HeldTurn; readonly released: readonly LoggedEvent[] } {
  if (event.type === 'turn_begun') return { held: [event], released: held }
  const [first] = held
  if (first === undefined) return { held, released: [event] }
  const isOther = turnOf(event) !== null && turnOf(event) !== turnOf(first)
  if (isOther) return { held: [], released: [...held, event] }
  if (event.type === 'turn_ended')
    return {
      held: [],
      released: event.payload.reason === 'rolled_back' ? withoutTurn(held) : [...held, event],
    }
  return hasOutput(event)
    ? { held: [], released: [...held, event] }
    : { held: [...held, event], released: [] }
}

function hasOutput({ type }: LoggedEvent): boolean {
  return type === 'assistant_item' || type === 'tool_called'
}

function withoutTurn(held: HeldTurn): readonly LoggedEvent[] {
  return held.filter((event) => turnOf(event) === null)
}
