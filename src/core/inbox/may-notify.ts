import { isReserved, type ReservedEvent, type StoredEvent } from '../process/event.ts'

/** Whether an event may cause a notice, as far as the event alone tells. Events of programs may wake a session. */
export function mayNotify({ type, payload }: StoredEvent): boolean {
  if (type === 'wait_entered') return Object(payload).on === 'approval'
  return !isReserved(type) || NOTIFYING.has(type)
}

/** Reeve's own events that may cause a notice. */
const NOTIFYING: ReadonlySet<string> = new Set<ReservedEvent['type']>([
  'ended',
  'watch_matched',
  'watch_disabled',
  'ready',
  'ready_timed_out',
  'heartbeat',
  'limit_near',
  'approval_requested',
  'approval_settled',
  'message_received',
  'message_sent',
  'turn_ended',
])
