import { execFile } from 'node:child_process'
import { readlink } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { isInForegroundGroup } from '../../os/stat.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import type { Terminal } from './terminal.ts'

const run = promisify(execFile)

/**
 * Whether Ctrl-Z would stop the program if it ran on this terminal: its terminal turns the key into a signal, and the program
 * itself is in the foreground there, not a job that it controls. False if that is unknown.
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
 * Pauses the command, releases the terminal and stops this program's whole job, as Ctrl-Z does. The shell's `fg` continues here.
 * The command's process group is orphaned, because its parent is in another session, and the kernel discards SIGTSTP for such a
 * group: that is why Reeve pauses it.
 */
export async function suspend(reeve: ReeveVerbs, pid: string, terminal: Terminal): Promise<void> {
  const paused = await reeve.signal({ pid, signal: 'pause' }).catch(() => null)
  if (paused?.type !== 'signalled') return
  terminal.setRaw(false)
  await terminal.show(Buffer.from('\r\n'))
  process.kill(0, 'SIGTSTP')
  // Time stands still while the job is stopped. A job that cannot be stopped goes on after this pause.
  await sleep(50)
  terminal.setRaw(true)
  await reeve.signal({ pid, signal: 'resume' }).catch(() => undefined)
}
