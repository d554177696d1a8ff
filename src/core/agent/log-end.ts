import { type CallProgress, NO_PROGRESS } from '../model/next-step.ts'
import { knownEvent, type StoredEvent } from '../process/event.ts'

/** How far the calls for the next answer of a turn have got, before a crash or here. */
export function callProgress(events: readonly StoredEvent[], turn: number): CallProgress {
  for (const event of backwards(events)) {
    const known = knownEvent(event)
    switch (known?.type) {
      case 'model_call_retried':
        if (known.payload.turn !== turn) return NO_PROGRESS
        return progressIn(known.payload.progress)
      case 'input_promoted':
      case 'notices_promoted':
      case 'tool_answered':
      case 'turn_begun':
      case 'segment_begun':
        return NO_PROGRESS
    }
  }
  return NO_PROGRESS
}

/** Whether a turn has been shortened since its last answer: a second time would change nothing. */
export function isCompacted(events: readonly StoredEvent[], turn: number): boolean {
  for (const event of backwards(events)) {
    const known = knownEvent(event)
    switch (known?.type) {
      case 'segment_begun':
        return known.payload.turn === turn && known.payload.why === 'compaction'
      case 'assistant_item':
      case 'tool_called':
      case 'turn_begun':
        return false
    }
  }
  return false
}

/** Whether the live segment was found too long after a compaction, or could not be shortened: then it is not tried again by itself. */
export function isCompactedInVain(events: readonly StoredEvent[]): boolean {
  for (const event of backwards(events)) {
    const known = knownEvent(event)
    if (known?.type === 'segment_begun') return false
    if (known?.type === 'agent_alerted' && known.payload.alert === 'compaction_without_effect') return true
  }
  return false
}

/** The latest first, without a copy. */
export function* backwards<Item>(items: readonly Item[]): Generator<Item> {
  for (let index = items.length - 1; index >= 0; index--) yield items[index] as Item
}

function progressIn(stored: unknown): CallProgress {
  return { ...NO_PROGRESS, ...(stored as CallProgress) }
}
