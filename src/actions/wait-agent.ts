import { notAnAgent } from '../core/agent/refusals.ts'
import { phaseOf } from '../core/agent/state.ts'
import { RefusedError } from '../core/errors.ts'
import type { StoredEvent } from '../core/process/event.ts'
import { hasEnded, type ProcessRecord } from '../core/process/record.ts'
import type { OutputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, readerFor } from './action.ts'
import { lastTurn, turnResultOf } from './turn-results.ts'
import { consumeEnd, waitOptions } from './wait.ts'
import { whileReadable } from './while-readable.ts'

/** Waits for an agent: for the end of a turn, or until it does nothing. */
export function waitAgentActions(parts: ActionParts): ActionsFor<'waitAgent'> {
  const { kernel, actor, waits, effects } = parts
  const { clock } = kernel.edges
  const read = readerFor(parts)
  return {
    async waitAgent({ pid, turn, timeoutMs = waits.defaultMs, reader }, options) {
      const clamped = timeoutMs > waits.mostMs ? { clampedToMs: waits.mostMs } : {}
      const until = clock.now() + Math.min(timeoutMs, waits.mostMs)
      let record = await read(pid)
      if (record.agent === null) throw new RefusedError(notAnAgent(record))
      for (;;) {
        const settled = await settledIn(parts, record, turn)
        if (settled !== null) {
          if (hasEnded(record)) await consumeEnd(effects, record.pid, options, reader)
          return settled
        }
        const { pid: found, revision } = record
        const waited = await whileReadable(kernel, actor, [found], options, (lasts) => {
          const leftMs = Math.max(0, until - clock.now())
          return kernel.waits.forEvent(found, revision, maySettle, waitOptions(leftMs, lasts))
        })
        if (waited.type === 'interrupted') return waited
        record = await read(found)
        if (waited.type === 'timed_out')
          return (await settledIn(parts, record, turn)) ?? { type: 'timed_out', record, ...clamped }
      }
    },
  }
}

type Settled = Extract<OutputOf<'waitAgent'>, { type: 'turn_ended' | 'idle' | 'paused' | 'ended' }>

/** The answer, if there is nothing left to wait for. */
async function settledIn(
  { kernel }: ActionParts,
  record: ProcessRecord,
  turn: number | undefined,
): Promise<Settled | null> {
  const { store } = kernel.edges
  const ended = turn === undefined ? null : await turnResultOf(store, record.pid, turn)
  if (ended !== null) return { type: 'turn_ended', turn: ended, record }
  if (hasEnded(record)) return { type: 'ended', turn: await lastTurn(store, record), record }
  switch (phaseOf(record)) {
    case 'paused':
      return { type: 'paused', turn: await lastTurn(store, record), record }
    case 'idle':
      return turn === undefined ? { type: 'idle', turn: await lastTurn(store, record), record } : null
    case 'running':
      return null
  }
}

/** Events after which the agent may do nothing any more. */
function maySettle({ type }: StoredEvent): boolean {
  return type === 'turn_ended' || type === 'paused'
}
