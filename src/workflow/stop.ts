import { Stopped } from '../kernel/attempt.ts'

/** Whether an attempt was aborted to end its process. After a lost lease or a shutdown, another attempt continues it. */
export function isStop(reason: unknown): reason is Stopped {
  return reason instanceof Stopped && reason.why !== 'lease_lost' && reason.why !== 'shutdown'
}
