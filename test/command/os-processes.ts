import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { ownCgroups } from '../../src/os/own-cgroups.ts'
import { MARKER } from '../../src/os/program-marks.ts'
import { startTimeOf, until } from '../keeper/client.ts'

export interface OsProcess {
  readonly osPid: number
  readonly startTime: string
}

/** Zombies are not alive. */
export function isAlive({ osPid, startTime }: OsProcess): boolean {
  return startTime !== '' && startTimeOf(osPid) === startTime
}

/** An OS process as it is now. One that is gone is not alive. */
export function osProcess(osPid: number): OsProcess {
  return { osPid, startTime: startTimeOf(osPid) }
}

/** By its identity, so that a PID that was used again is left alone. One that is gone is not signalled. */
export function signalOne(one: OsProcess, signal: NodeJS.Signals): void {
  if (!isAlive(one)) return
  if (!(one.osPid > 1)) throw new Error(`A test must not signal PID ${one.osPid}`)
  try {
    process.kill(one.osPid, signal)
  } catch (error) {
    // It went since it was looked at.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** `kill -9`, and comes back when it is gone. */
export async function endForCertain(one: OsProcess): Promise<void> {
  signalOne(one, 'SIGKILL')
  await until(`PID ${one.osPid} is gone`, () => !isAlive(one))
}

/** `R`, `S`, `T` and so on, or null when it is gone. */
export function stateOf(osPid: number): string | null {
  return statFields(osPid)?.[0] ?? null
}

/**
 * Whether an OS process is stopped and does nothing more. One that waits in `vfork` for a stopped child does nothing
 * either, though the system shows it as `D`: dash starts programs with `vfork`.
 */
export function standsStill(osPid: number): boolean {
  const state = stateOf(osPid)
  return state === 'T' || (state === 'D' && childrenOf(osPid).some((child) => child.state === 'T'))
}

/** The children of an OS process and the state of each: `Z` for zombies. */
export function childrenOf(osPid: number): { osPid: number; state: string }[] {
  return osPids().flatMap((child) => {
    const fields = statFields(child)
    return fields?.[1] === String(osPid) ? [{ osPid: child, state: fields[0] ?? '' }] : []
  })
}

/** Living OS processes whose environment says that they belong to a command; `ending` is the end of the marker. */
export function markedWith(ending: string): number[] {
  return osPids().filter((osPid) => {
    const marker = variablesOf(osPid).find((variable) => variable.startsWith(`${MARKER}=`))
    if (marker === undefined || !marker.slice(MARKER.length + 1).endsWith(ending)) return false
    return startTimeOf(osPid) !== ''
  })
}

/** What an OS process has open, and how many of each: `socket`, `pipe`, a path; numbered things by their sort alone. */
export function openDescriptors(osPid: number): Map<string, number> {
  const found = new Map<string, number>()
  for (const name of readdirSync(`/proc/${osPid}/fd`)) {
    const target = linkOf(`/proc/${osPid}/fd/${name}`)
      .replace(/:\[\d+\]$/, '')
      .replace(/\d+-\d+-\d+/, '*')
    found.set(target, (found.get(target) ?? 0) + 1)
  }
  return found
}

/** Of this name, next to where this program stands. */
export function cgroupsNamed(name: string): string[] {
  const { unified, memoryV1 } = ownCgroups()
  return [unified, memoryV1].flatMap((group) => {
    if (group === null) return []
    const path = join(group, name)
    return existsSync(path) ? [path] : []
  })
}

function osPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    // Closed since it was listed.
    return 'closed'
  }
}

function variablesOf(osPid: number): string[] {
  try {
    const text = readFileSync(`/proc/${osPid}/environ`, 'latin1')
    // Tests look again and again, and most OS processes belong to no command.
    return text.includes(MARKER) ? text.split('\0') : []
  } catch {
    // Gone since it was listed.
    return []
  }
}

/** From its state on: state, parent, group … */
function statFields(osPid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${osPid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    // Gone since it was listed.
    return undefined
  }
}
