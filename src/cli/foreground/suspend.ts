import { execFile } from 'node:child_process'
import { readlink } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { isInForegroundGroup } from '../../os/stat.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import type { Terminal } from './terminal.ts'

const run = promisify(execFile)

/**
 * Whether Ctrl-Z would stop the program if it had this terminal: its own terminal makes a signal of the key, and the program
 * itself is in the foreground there, not a job that it started and will look after. Where that cannot be told, no.
 */
export async function suspendsAtCtrlZ(osPid: number | undefined): Promise<boolean> {
  if (osPid === undefined) return false
  try {
    if (isInForegroundGroup(osPid) !== true) return false
    const device = await readlink(`/proc/${osPid}/fd/0`)
    if (!device.startsWith('/dev/pts/')) return false
    const { stdout } = await run('stty', ['-F', device, '-a'], { timeout: 1_000 })
    return /(^|\s)isig\b/.test(stdout) && /susp = \^Z;/.test(stdout)
  } catch {
    return false
  }
}

/**
 * Pauses the command, gives the terminal back and stops this program with all of its job, as the key would have. The shell's
 * `fg` continues here. A program whose terminal is another session's parent is orphaned there, and the system would have
 * thrown the signal away: that is why it is paused by Reeve.
 */
export async function suspend(reeve: ReeveVerbs, pid: string, terminal: Terminal): Promise<void> {
  const paused = await reeve.signal({ pid, signal: 'pause' }).catch(() => null)
  if (paused?.answer !== 'signalled') return
  terminal.setRaw(false)
  await terminal.show(Buffer.from('\r\n'))
  process.kill(0, 'SIGTSTP')
  // Nothing runs here while it is stopped, and a job that cannot be stopped goes on after a moment.
  await sleep(50)
  terminal.setRaw(true)
  await reeve.signal({ pid, signal: 'resume' }).catch(() => undefined)
}
