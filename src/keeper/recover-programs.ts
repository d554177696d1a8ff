import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf, traceOf } from '../base/error-text.ts'
import { bootId } from '../os/boot.ts'
import { isAlive, whoIs } from '../os/identity.ts'
import { statOf } from '../os/stat.ts'
import { segmentName } from '../output-log/log-format.ts'
import { logEnd } from '../output-log/segments.ts'
import { OrphanWatch } from './orphan-watch.ts'
import { fifoName } from './program/fork-child.ts'
import type { Intent, SettledState, StoredSpawnPlan } from './program/live-files.ts'
import type { Stream } from './program/output-log.ts'
import type { Program } from './program/program.ts'
import { takeOver } from './program/take-over.ts'
import type { Programs, ProgramsContext } from './programs.ts'
import { markerOf } from './protocol/data-folder-paths.ts'
import type { ProgramIdentity } from './protocol/program-state.ts'
import { removeFile } from './remove-file.ts'
import { findByMarker } from './tree/members.ts'

/**
 * Takes over the programs of earlier keepers, depending on their files and OS processes:
 *
 * | intent            | exit file | program                 | what becomes of it                                       |
 * | of a live keeper, or this one |  |                      | left alone                                               |
 * | any               | there     |                         | that is how it ended                                     |
 * | of another boot   | –         |                         | lost, `holder_dead`                                      |
 * | of this boot, or unreadable | – | lives, without terminal | goes on, orphaned; lost, `keeper_lost`, when it is gone  |
 * | of this boot, or unreadable | – | lives, with a terminal  | ended for certain, then lost, `keeper_lost`              |
 * | of this boot, or unreadable | – | gone, or not to be found | the rest of its pipe is read; lost, `keeper_lost`       |
 *
 * A program without a file is searched for by its marker. No outcome is invented: that of a lost program stays unknown. An
 * unreadable intent still proves that a program was begun, which then goes on without limits.
 *
 * A program that can't be taken over now (the disk is full, for example) may be alive: it counts as running, and is retried.
 */
export class Recovery {
  readonly #context: ProgramsContext
  readonly #programs: Programs
  readonly #orphans = new OrphanWatch()
  #retry: NodeJS.Timeout | null = null

  constructor(context: ProgramsContext, programs: Programs) {
    this.#context = context
    this.#programs = programs
  }

  /** Resolves when all programs that need no grace are settled; the others are ended in the background. */
  async run(): Promise<void> {
    this.#programs.recallLeft()
    sweepInputs(this.#context)
    const ending = this.#take(this.#context.live.begun())
    await Promise.race([Promise.all(ending), new Promise((resolve) => setTimeout(resolve, WAIT_MS))])
  }

  /** A program that can't be taken over must not prevent the take-over of the others. */
  #take(pids: readonly string[]): Promise<unknown>[] {
    const ending: Promise<unknown>[] = []
    for (const pid of pids) {
      try {
        const ends = recoverOne(this.#context, this.#programs, this.#orphans, pid)
        ending.push(
          ...ends.map((ended) => ended.catch((error: unknown) => this.#context.trouble(pid, why(error)))),
        )
      } catch (error) {
        this.#cannotTake(pid, why(error))
      }
    }
    return ending
  }

  #cannotTake(pid: string, message: string): void {
    if (this.#programs.stateOf(pid) === null) this.#context.trouble(pid, message)
    this.#programs.cannotTake(pid, knownProgram(this.#context, pid), message)
    this.#retry ??= setTimeout(() => {
      this.#retry = null
      void Promise.all(this.#take(this.#programs.untaken().map(({ state }) => state.pid)))
      this.#context.changed()
    }, RETRY_MS)
  }
}

function why(error: unknown): string {
  return `It can't be taken over: ${traceOf(error)}`
}

/** How much longer a daemon waits for its new keeper, at most, to have settled the programs. */
const WAIT_MS = 300

const RETRY_MS = 1000

/** Removes input files of a keeper that died while it started a program: the input may be secret. */
function sweepInputs({ fifos, live, trouble }: ProgramsContext): void {
  for (const name of readdirSync(fifos.folder)) {
    if (!name.endsWith('.in')) continue
    const pid = name.slice(0, -3)
    try {
      const intent = live.intentOf(pid)
      if (intent === undefined || !isOfLiveKeeper(intent)) removeFile(join(fifos.folder, name))
    } catch (error) {
      trouble(pid, `Its input, ${join(fifos.folder, name)}, can't be removed: ${messageOf(error)}.`)
    }
  }
}

/** Promises of the ends in progress; empty if the program is settled, or goes on. */
function recoverOne(
  context: ProgramsContext,
  programs: Programs,
  orphans: OrphanWatch,
  pid: string,
): Promise<unknown>[] {
  const intent = context.live.intentOf(pid)
  if (programs.knows(pid) || (intent !== undefined && isOfLiveKeeper(intent))) return []
  const settled = context.live.settledOf(pid)
  if (settled !== undefined) programs.addSettled(settled)
  else if (intent !== undefined && intent.boot !== bootId()) settleLost(context, programs, pid, 'holder_dead')
  else return takeBack(context, programs, orphans, pid, intent)
  return []
}

/** A keeper of another protocol may have programs in the same folder. */
function isOfLiveKeeper({ keeper, boot }: Intent): boolean {
  return boot === bootId() && isAlive(keeper.osPid, keeper.startTime)
}

function settleLost(
  context: ProgramsContext,
  programs: Programs,
  pid: string,
  evidence: 'keeper_lost' | 'holder_dead',
): void {
  const program = context.live.programOf(pid) ?? null
  for (const stream of [null, 'stderr'] as const)
    removeFile(join(context.fifos.folder, fifoName(pid, stream)))
  const state: SettledState = {
    state: 'lost',
    pid,
    program,
    evidence,
    outputEnd: logEnd(join(context.output, pid)),
  }
  programs.settle(state)
}

function takeBack(
  context: ProgramsContext,
  programs: Programs,
  orphans: OrphanWatch,
  pid: string,
  intent: Intent | undefined,
): Promise<unknown>[] {
  const identity = context.live.programOf(pid) ?? foundProgram(context, pid)
  if (identity === undefined || identity.boot !== bootId()) {
    settleLost(context, programs, pid, identity === undefined ? 'keeper_lost' : 'holder_dead')
    return []
  }
  const lives = whoIs(identity) === 'ours'
  const { plan, at } = intent ?? { plan: planWithout(context, pid, identity), at: Date.now() }
  const program: Program = takeOver(context, { pid, plan, at }, identity, programs.eventsOf(pid))
  programs.add(program)
  if (!lives || plan.pty !== null) program.leave()
  if (!lives) return [program.vanished()]
  orphans.add(identity, () => void program.vanished())
  return plan.pty === null ? [] : [program.end(plan.endSignal, plan.graceMs || TERMINAL_GRACE_MS, 'asked')]
}

/** The plan of a program with an unreadable intent: no limits, and output by its open files. Without a pipe it had a terminal. */
function planWithout(context: ProgramsContext, pid: string, { osPid }: ProgramIdentity): StoredSpawnPlan {
  const hasFifo = (stream: Stream | null) => existsSync(join(context.fifos.folder, fifoName(pid, stream)))
  const isDirect = linkOf(`/proc/${osPid}/fd/1`) === join(context.output, pid, segmentName(0))
  return {
    argv: [],
    cwd: '/',
    stdin: 'null',
    tree: 'auto',
    pty: isDirect || hasFifo(null) ? null : { cols: 80, rows: 24 },
    output: isDirect ? 'direct' : hasFifo('stderr') ? 'tagged' : 'merged',
    caps: { headBytes: 256 * 1024, tailBytes: 8 * MIB, segmentBytes: MIB, minFreeBytes: 128 * MIB },
    timeoutMs: null,
    idleTimeoutMs: null,
    endSignal: 'SIGTERM',
    graceMs: TERMINAL_GRACE_MS,
    limits: { memoryBytes: null, cpuSeconds: null, openFiles: null, outputBytes: null },
  }
}

const MIB = 1024 * 1024

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    // The program has closed it, or is gone.
    return null
  }
}

const TERMINAL_GRACE_MS = 2000

/** The identity, as far as it is known, of a program that could not be taken over. The marker alone suffices to find it. */
function knownProgram(context: ProgramsContext, pid: string): ProgramIdentity {
  const unknown: ProgramIdentity = {
    osPid: 0,
    startTime: null,
    boot: bootId(),
    group: -1,
    tree: 'marker',
    cgroup: null,
    memoryBy: null,
  }
  try {
    return context.live.programOf(pid) ?? unknown
  } catch {
    return unknown
  }
}

/** The keeper died between the fork and its record: the program is the oldest group leader with the marker. */
function foundProgram(context: ProgramsContext, pid: string): ProgramIdentity | undefined {
  for (const { osPid, startTime } of findByMarker(markerOf(context.homeId, pid))) {
    if (statOf(osPid)?.group !== osPid) continue
    const identity: ProgramIdentity = {
      osPid,
      startTime,
      boot: bootId(),
      group: osPid,
      tree: 'marker',
      cgroup: null,
      memoryBy: null,
    }
    try {
      context.live.writeProgram(pid, identity)
    } catch (error) {
      // The next keeper finds it in the same way.
      context.trouble(pid, `Its identity can't be written: ${messageOf(error)}.`)
    }
    return identity
  }
  return undefined
}
