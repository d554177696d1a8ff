import type { ChildProcess } from 'node:child_process'
import { type OsIdentity, whoIs } from './identity.ts'
import { isForbidden, isGone } from './proc-files.ts'
import { isOver, statOf } from './stat.ts'

/** `process.kill`, or a recorder in tests of the guard. */
export type Kill = (target: number, signal: string) => unknown

const systemKill: Kill = (target, signal) => process.kill(target, signal)

/**
 * Sends a signal to one OS process of this boot, if it is still the one that started then. True when it was sent; false
 * when that process is gone or a zombie, or when its PID belongs to another process now. Throws where the system forbids
 * it (EPERM).
 *
 * The signal follows the check at once. A wrong process could only get it if the process ended and its PID were reused in
 * between.
 */
export function signalExact(
  osPid: number,
  startTime: string,
  signal: string,
  kill: Kill = systemKill,
): boolean {
  if (!isAllowedTarget(osPid)) return false
  const stat = statOf(osPid)
  if (stat === null || stat.startTime !== startTime || isOver(stat)) return false
  return send({ osPid }, signal, kill)
}

/** The result of a signal. Only `sent` means that the process got it. */
export type SignalResult = 'sent' | 'gone' | 'stranger' | 'unreadable' | 'forbidden'

/** Sends a signal to the OS process with this identity, which is verified right before: boot, PID and start time. */
export function signalVerified(identity: OsIdentity, signal: string, kill: Kill = systemKill): SignalResult {
  if (!isAllowedTarget(identity.osPid)) return 'forbidden'
  const who = whoIs(identity)
  if (who !== 'ours') return who
  try {
    return signalExact(identity.osPid, identity.startTime ?? '', signal, kill) ? 'sent' : 'gone'
  } catch (error) {
    if (isForbidden(error)) return 'forbidden'
    throw error
  }
}

/**
 * Kills the process group of a child that this program started as a group leader (`detached`), while the child has not
 * been reaped: until then its number cannot belong to another group.
 */
export function killGroupOf(
  { pid, exitCode, signalCode }: Pick<ChildProcess, 'pid' | 'exitCode' | 'signalCode'>,
  kill: Kill = systemKill,
): boolean {
  if (pid === undefined || exitCode !== null || signalCode !== null) return false
  // A child that was not detached is in this program's own group.
  if (!isAllowedTarget(pid) || statOf(pid)?.group === ownGroup()) return false
  return send({ group: pid }, 'SIGKILL', kill)
}

/** 0 and negative numbers mean groups to the system, 1 is init, and a program does not signal itself by mistake. */
function isAllowedTarget(osPid: number): boolean {
  return Number.isSafeInteger(osPid) && osPid > 1 && osPid !== process.pid
}

type Target = { readonly osPid: number } | { readonly group: number }

/** The only call of `kill` for other processes. It checks its target again, so that new callers are safe, too. */
function send(target: Target, signal: string, kill: Kill): boolean {
  const number = 'group' in target ? target.group : target.osPid
  if (!isAllowedTarget(number) || ('group' in target && number === ownGroup())) return false
  try {
    kill('group' in target ? -number : number, signal)
    return true
  } catch (error) {
    if (isGone(error)) return false
    throw error
  }
}

/** Null without /proc. */
function ownGroup(): number | null {
  return statOf(process.pid)?.group ?? null
}
