import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { traceOf } from './error-text.ts'
import type { Intent, SettledState } from './home/live-files.ts'
import { logEnd } from './log/segments.ts'
import type { OrphanWatch } from './orphan-watch.ts'
import { fifoName } from './program/fork-with-fifos.ts'
import type { Program } from './program/program.ts'
import { takeOver } from './program/take-over.ts'
import type { Programs, ProgramsPlace } from './programs.ts'
import { markerOf } from './protocol/home.ts'
import type { ProgramIdentity } from './protocol/messages.ts'
import { bootId, isAlive, whoIs } from './tree/identity.ts'
import { findByMarker } from './tree/members.ts'
import { statOf } from './tree/stat.ts'

/**
 * Takes over what earlier keepers have left. What is found decides:
 *
 * | intent            | exit file | program                 | what becomes of it                                       |
 * | of a live keeper, or this one |  |                      | left alone                                               |
 * | any               | there     |                         | that is how it ended                                     |
 * | of another boot   | –         |                         | lost, `holder_dead`                                      |
 * | of this boot      | –         | lives, without terminal | goes on, orphaned; lost, `keeper_lost`, when it is gone  |
 * | of this boot      | –         | lives, with a terminal  | ended for certain, then lost, `keeper_lost`              |
 * | of this boot      | –         | gone, or not to be found | what its pipe holds is read; lost, `keeper_lost`        |
 *
 * A program that no file tells of is looked for by its marker. No outcome is made up: that of a lost one stays unknown.
 *
 * Comes back when those are settled that need no grace; ending the others goes on beside the rest.
 */
export async function recover(place: ProgramsPlace, programs: Programs, orphans: OrphanWatch): Promise<void> {
  const ending: Promise<unknown>[] = []
  for (const pid of place.live.begun()) {
    // One that can't be taken over must not keep the others from being so.
    const failed = (error: unknown) => place.trouble(pid, `It can't be taken over: ${traceOf(error)}`)
    try {
      ending.push(...recoverOne(place, programs, orphans, pid).map((ended) => ended.catch(failed)))
    } catch (error) {
      failed(error)
    }
  }
  await Promise.race([Promise.all(ending), new Promise((resolve) => setTimeout(resolve, WAIT_MS))])
}

/** How long a daemon waits longer for its new keeper, at most, to find things settled. */
const WAIT_MS = 300

/** What has to be waited for until it is settled; nothing if it is, or goes on. */
function recoverOne(
  place: ProgramsPlace,
  programs: Programs,
  orphans: OrphanWatch,
  pid: string,
): Promise<unknown>[] {
  const intent = place.live.intentOf(pid)
  if (programs.knows(pid) || (intent !== undefined && isOfLiveKeeper(intent))) return []
  const settled = place.live.settledOf(pid)
  if (settled !== undefined) programs.addSettled(settled)
  else if (intent === undefined || intent.boot !== bootId()) settleLost(place, programs, pid, intent)
  else return takeBack(place, programs, orphans, intent)
  return []
}

/** A keeper of another protocol may look after programs in the same folder. */
function isOfLiveKeeper({ keeper, boot }: Intent): boolean {
  return boot === bootId() && isAlive(keeper.osPid, keeper.startTime)
}

/** Without an intent that can be read nothing was ever forked: it is written whole before. */
function settleLost(place: ProgramsPlace, programs: Programs, pid: string, intent: Intent | undefined): void {
  const evidence = intent === undefined ? 'keeper_lost' : 'holder_dead'
  const program = place.live.programOf(pid) ?? null
  for (const stream of [null, 'stderr'] as const)
    rmSync(join(place.fifos.folder, fifoName(pid, stream)), { force: true })
  const state: SettledState = {
    ...{ state: 'lost', pid, program, evidence },
    outputEnd: logEnd(join(place.output, pid)),
  }
  programs.settle(state)
}

function takeBack(
  place: ProgramsPlace,
  programs: Programs,
  orphans: OrphanWatch,
  intent: Intent,
): Promise<unknown>[] {
  const { pid, plan } = intent
  const identity = place.live.programOf(pid) ?? foundProgram(place, pid)
  if (identity === undefined) {
    settleLost(place, programs, pid, undefined)
    return []
  }
  const program: Program = takeOver(place, intent, identity, programs.eventsOf(pid))
  programs.add(program)
  if (whoIs(identity) !== 'ours') return [program.vanished()]
  orphans.add(identity, () => void program.vanished())
  return plan.pty === null ? [] : [program.end(plan.endSignal, plan.graceMs || TERMINAL_GRACE_MS, 'asked')]
}

const TERMINAL_GRACE_MS = 2000

/** Forked, but its keeper did not live to write down as what: the oldest that leads a group and has the marker. */
function foundProgram(place: ProgramsPlace, pid: string): ProgramIdentity | undefined {
  for (const { osPid, startTime } of findByMarker(markerOf(place.homeId, pid))) {
    if (statOf(osPid)?.group !== osPid) continue
    const identity: ProgramIdentity = {
      ...{ osPid, startTime, boot: bootId(), group: osPid },
      ...{ tree: 'marker', cgroup: null, memoryBy: null },
    }
    place.live.writeProgram(pid, identity)
    return identity
  }
  return undefined
}
