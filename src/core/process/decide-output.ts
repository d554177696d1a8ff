import { matchOverAll, NO_OVERFLOW } from '../inbox/flood.ts'
import { own } from '../json/json.ts'
import { type Fence, holds } from '../lease/lease.ts'
import {
  alreadyEnded,
  append,
  type Decision,
  type Facts,
  newEvent,
  type Rules,
  refuse,
  staleFence,
} from './decision.ts'
import type { Intent } from './intent.ts'
import { hasEnded } from './record.ts'
import type { ProcessRow } from './row.ts'

/**
 * Observations of an executor about a running process: a watched line, its readiness, that it still prints. A scan that is repeated
 * after a crash meets the same offsets, and matches that were recorded before stay as they are.
 */
export function decideMatch(
  { row, replayed, overflow }: Facts,
  { match, fence, at }: Extract<Intent, { type: 'match' }>,
  { flood }: Rules,
): Decision {
  return whileHeld(row, fence, () => {
    const known = own(row.record.watches, match.watch)
    if (replayed !== null || known?.disabled === true || (known?.scannedTo ?? -1) >= match.end)
      return { type: 'keep' }
    const by = { pid: row.record.pid, seq: row.record.revision + 1 }
    const over = matchOverAll(overflow ?? NO_OVERFLOW, by, at, flood)
    const replayKey = `watch:${match.watch}:${match.offset}`
    const event = newEvent({ type: 'watch_matched', payload: { ...match, told: over.told }, replayKey })
    return { type: 'append', events: [event], overflow: over.overflow }
  })
}

export function decideDisableWatch(
  row: ProcessRow,
  { disabled, fence }: Extract<Intent, { type: 'disable_watch' }>,
): Decision {
  return whileHeld(row, fence, () =>
    own(row.record.watches, disabled.watch)?.disabled === true
      ? { type: 'keep' }
      : append({ type: 'watch_disabled', payload: disabled }),
  )
}

/** Recorded once: ready, or timed out. */
export function decideReadiness(
  row: ProcessRow,
  { by, detail, timeoutMs, own: isOwn, last, fence }: Extract<Intent, { type: 'settle_readiness' }>,
): Decision {
  return whileHeld(row, fence, () => {
    if (row.record.readiness !== null) return { type: 'keep' }
    return timeoutMs === null
      ? append({ type: 'ready', payload: { by, detail, ...(isOwn === undefined ? {} : { own: isOwn }) } })
      : append({
          type: 'ready_timed_out',
          payload: { by, detail, timeoutMs, ...(last === undefined ? {} : { last }) },
        })
  })
}

export function decideBeat(
  row: ProcessRow,
  { outputBytes, newBytes, fence }: Extract<Intent, { type: 'beat' }>,
): Decision {
  return whileHeld(row, fence, () => append({ type: 'heartbeat', payload: { outputBytes, newBytes } }))
}

function whileHeld(row: ProcessRow, fence: Fence, then: () => Decision): Decision {
  if (hasEnded(row.record)) return refuse(alreadyEnded(row.record))
  return holds(row, fence) ? then() : refuse(staleFence(row.record, fence))
}
