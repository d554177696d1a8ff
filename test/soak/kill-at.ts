import type { Change } from '../../src/core/change.ts'
import type { Random } from '../simulation/random.ts'

/** The writes of an action that needs an approval, in their order. */
export const WRITES = ['ask', 'answer', 'start', 'program', 'end'] as const
/** The writes of a turn of an agent. */
export const AGENT_WRITES = [
  ...(['input', 'turn', 'call', 'output', 'answer', 'tool', 'start', 'program'] as const),
  ...(['end', 'result', 'usage', 'turn end'] as const),
]
/** The writes of a turn of an outside agent. */
export const OUTSIDE_WRITES = [
  ...(['input', 'turn', 'call', 'note', 'output', 'answer', 'tool', 'ask', 'result'] as const),
  ...(['note', 'usage', 'turn end'] as const),
]
/** The writes of a turn that calls tools of MCP servers. */
export const SERVER_WRITES = [
  ...(['tool', 'program', 'start', 'request', 'ask', 'answer', 'request', 'end', 'result'] as const),
]
export type Write =
  | (typeof WRITES)[number]
  | (typeof AGENT_WRITES)[number]
  | (typeof OUTSIDE_WRITES)[number]
  | (typeof SERVER_WRITES)[number]

/** `before`: decided and not committed. `after`: committed, and its caller does not know. */
export interface KillAt {
  readonly write: Write
  readonly when: 'before' | 'after'
  /** Counts the writes of this sort since the start of the daemon. */
  readonly nth: number
}

/** All but every n-th daemon die at a write, each write in turn, before and after its commit; every n-th dies at random. */
export function killInTurn(
  writes: readonly Write[],
  everyNth: number,
): (number: number, random: Random) => KillAt | null {
  return (number, random) => {
    if (number % everyNth === everyNth - 1) return null
    const turn = number - Math.floor(number / everyNth)
    const write = writes[Math.floor(turn / 2) % writes.length] ?? 'answer'
    return { write, when: turn % 2 === 0 ? 'before' : 'after', nth: random.between(1, 3) }
  }
}

const OF_EVENTS = {
  approval_requested: 'ask',
  approval_settled: 'answer',
  started: 'start',
  program_started: 'program',
  ended: 'end',
  input_admitted: 'input',
  turn_begun: 'turn',
  model_call_begun: 'call',
  output_begun: 'output',
  assistant_item: 'answer',
  tool_called: 'tool',
  tool_answered: 'result',
  model_used: 'usage',
  turn_ended: 'turn end',
  program_noted: 'note',
  // Noted before the request leaves: a kill after this commit is in the middle of the call.
  'signal.mcp_request': 'request',
} as const satisfies { readonly [event: string]: Write }

/** What a commit writes of such actions. */
export function writesOf(changes: readonly Change[]): readonly Write[] {
  return changes.flatMap((change) =>
    change.type === 'process'
      ? change.events.flatMap(({ type }) => (isNamed(type) ? [OF_EVENTS[type]] : []))
      : [],
  )
}

function isNamed(type: string): type is keyof typeof OF_EVENTS {
  return Object.hasOwn(OF_EVENTS, type)
}
