import type * as z from 'zod'
import { loadParts } from '../agent/parts/stored-parts.ts'
import { answerKey, callKey, turnEndedKey } from '../core/agent/act.ts'
import { lastOnBranch } from '../core/agent/branch.ts'
import type { AgentEvent } from '../core/agent/event.ts'
import { resultFrom, saidIn } from '../core/agent/output.ts'
import type { Part } from '../core/agent/state.ts'
import { knownEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Store } from '../store/contract.ts'
import type { turnResult } from '../verbs/shapes/agent-view.ts'

export type TurnResult = z.output<typeof turnResult>

const PAGE_EVENTS = 100
const PAGE_BYTES = 1024 * 1024

/** How a turn ended; null if it has not. */
export async function turnResultOf(store: Store, pid: Pid, turn: number): Promise<TurnResult | null> {
  const event = await store.ask({ ask: 'event', pid, replayKey: turnEndedKey(turn) })
  if (event === null) return null
  const untyped: unknown = event.payload
  const { answer, ...ended } = untyped as Extract<AgentEvent, { type: 'turn_ended' }>['payload']
  if (answer === undefined) return ended
  const said = saidIn(await loadParts(store.blobs, await partsSaid(store, pid, turn, answer.call)))
  return { ...ended, result: resultFrom(said, answer.as) }
}

/** The last turn that has ended; null if none has. */
export async function lastTurn(store: Store, { pid, agent }: ProcessRecord): Promise<TurnResult | null> {
  if (agent === null) return null
  // A rewind has gone back to an earlier one.
  const last = agent.turn === null ? lastOnBranch(agent) : lastOnBranch(agent) - 1
  return last < 1 ? null : turnResultOf(store, pid, last)
}

/** The parts of an answer: one commit, except for an outside agent, whose items follow the beginning of the call one by one. */
async function partsSaid(store: Store, pid: Pid, turn: number, call: number): Promise<readonly Part[]> {
  const first =
    (await store.ask({ ask: 'event', pid, replayKey: answerKey({ turn, call }) })) ??
    (await store.ask({ ask: 'event', pid, replayKey: callKey({ turn, call }) }))
  if (first === null) return []
  const parts: Part[] = []
  for (let after = first.seq - 1; ; ) {
    const read = { pid, after, limit: PAGE_EVENTS, bytes: PAGE_BYTES }
    const events = await store.ask({ ask: 'events', ...read })
    for (const event of events) {
      const known = knownEvent(event)
      after = event.seq
      if (known?.type === 'turn_ended') return parts
      if (known?.type !== 'assistant_item' || known.payload.turn !== turn) continue
      if (known.payload.call === call) parts.push(...known.payload.parts)
    }
    if (events.length === 0) return parts
  }
}
