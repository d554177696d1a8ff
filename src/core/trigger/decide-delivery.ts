import type { Pid } from '../process/pid.ts'
import type { EndStatus } from '../process/status.ts'
import {
  MAX_QUEUED_DELIVERIES,
  MAX_RUNNING_OCCURRENCES,
  type Trigger,
  type TriggerCounts,
} from './trigger.ts'

/** What happens to a new delivery that matches. */
export type DeliveryDecision =
  | { readonly type: 'skip' }
  /** As many wait as may wait: it is not accepted. */
  | { readonly type: 'full' }
  /** It waits, and starts at once if it can. */
  | {
      readonly type: 'queue'
      /** Waiting deliveries that it replaces. */
      readonly replaced: readonly Pid[]
      /** Running occurrences that are cancelled. */
      readonly cancel: readonly Pid[]
    }

export function decideDelivery({ overlap, running, queue }: Trigger): DeliveryDecision {
  const isBusy = running.length > 0 || queue.length > 0
  switch (overlap) {
    case 'skip':
      return isBusy ? { type: 'skip' } : { type: 'queue', replaced: [], cancel: [] }
    case 'bufferOne':
      return { type: 'queue', replaced: queue, cancel: [] }
    case 'cancelOther':
      return { type: 'queue', replaced: queue, cancel: running.map(({ pid }) => pid) }
    case 'queue':
    case 'allow':
      if (queue.length >= MAX_QUEUED_DELIVERIES) return { type: 'full' }
      return { type: 'queue', replaced: [], cancel: [] }
  }
}

/** Whether the first waiting delivery may start now. */
export function mayStartNext({ overlap, running, queue, paused, isOpen }: Trigger): boolean {
  if (paused !== null || isOpen || queue.length === 0) return false
  const isParallel = overlap === 'allow' || overlap === 'cancelOther'
  return running.length < (isParallel ? MAX_RUNNING_OCCURRENCES : 1)
}

/** The trigger after the end of one of its occurrences; null if the process is none. */
export function decideOccurrenceEnd(
  trigger: Trigger,
  pid: Pid,
  status: EndStatus,
  now: number,
): Trigger | null {
  const { running, queue, isOpen, counts } = trigger
  // Registered by a sweep, and ended before the row says that it runs.
  const isFirst = isOpen && queue[0] === pid
  const ended = running.find((one) => one.pid === pid) ?? (isFirst ? { pid, at: now } : undefined)
  if (ended === undefined) return null
  const hasFailed = status === 'failed' || status === 'abandoned'
  return {
    ...trigger,
    running: running.filter((one) => one.pid !== pid),
    ...(isFirst ? { queue: queue.slice(1), isOpen: false } : {}),
    last: { pid, at: ended.at, status },
    counts: {
      ...counts,
      started: counts.started + (isFirst ? 1 : 0),
      failed: counts.failed + (hasFailed ? 1 : 0),
    },
  }
}

export function triggerCounted({ counts }: Trigger, name: keyof TriggerCounts, by = 1): TriggerCounts {
  return { ...counts, [name]: counts[name] + by }
}
