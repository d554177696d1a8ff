import { isGone, isOver, statOf } from './stat.ts'

/**
 * Sends a signal to one OS process of this boot, if it is still the one that started then. True when it was sent; false
 * when that process is gone, whoever has its PID now. Throws where the system forbids it (EPERM).
 *
 * This is the only place where the keeper signals a program. Between the look and the signal lies no other work: what
 * remains is the moment in which the process would have to end and its PID come round again.
 */
export function signalExact(osPid: number, startTime: string, signal: string): boolean {
  // 0 and below mean groups to the system, and 1 is never a program.
  if (!Number.isSafeInteger(osPid) || osPid <= 1 || osPid === process.pid) return false
  const stat = statOf(osPid)
  if (stat === null || stat.startTime !== startTime || isOver(stat)) return false
  try {
    process.kill(osPid, signal)
    return true
  } catch (error) {
    if (isGone(error)) return false
    throw error
  }
}
