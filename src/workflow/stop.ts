import { Stopped } from '../kernel/attempt.ts'

/** Whether an attempt was aborted because its process is to end, and not because it goes on elsewhere. */
export function isStop(reason: unknown): reason is Stopped {
  return reason instanceof Stopped && reason.why !== 'lease_lost' && reason.why !== 'shutdown'
}
