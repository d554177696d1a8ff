import type * as z from 'zod'
import { turnEndedKey } from '../core/agent/act.ts'
import type { AgentEvent } from '../core/agent/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Store } from '../store/contract.ts'
import type { turnResult } from '../verbs/shapes/agent-view.ts'

export type TurnResult = z.output<typeof turnResult>

/** How a turn ended; null if it has not. */
export async function turnResultOf(store: Store, pid: Pid, turn: number): Promise<TurnResult | null> {
  const event = await store.ask({ ask: 'event', pid, replayKey: turnEndedKey(turn) })
  if (event === null) return null
  const untyped: unknown = event.payload
  return untyped as Extract<AgentEvent, { type: 'turn_ended' }>['payload']
}

/** The last turn that has ended; null if none has. */
export async function lastTurn(store: Store, { pid, agent }: ProcessRecord): Promise<TurnResult | null> {
  if (agent === null) return null
  const last = agent.turn === null ? agent.turns : agent.turns - 1
  return last < 1 ? null : turnResultOf(store, pid, last)
}
