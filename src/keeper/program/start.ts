import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { KeptPlan } from '../home/live-files.ts'
import { OutputLog } from '../log/output-log.ts'
import { MARKER, markerOf } from '../protocol/home.ts'
import type { ProgramIdentity, SpawnPlan } from '../protocol/messages.ts'
import { bootId, startTimeOf } from '../tree/identity.ts'
import { checkPlan, FailedStart } from './check-plan.ts'
import type { FifoPool } from './fifo-pool.ts'
import { forkFailure, forkWithFifos } from './fork-with-fifos.ts'
import { forkWithPty, loadPtyLibrary, type PtyLibrary } from './fork-with-pty.ts'
import type { Forked, ForkedEvents, ForkRequest } from './forked.ts'
import { Program, type ProgramEvents } from './program.ts'

/** What starting needs of the keeper. */
export interface StartPlace {
  readonly homeId: string
  readonly output: string
  readonly fifosFolder: string
  readonly fifos: FifoPool
  trouble(pid: string, message: string): void
}

/** What had to be waited for, so that from the intent on nothing has to be. */
export interface Prepared {
  readonly pty: PtyLibrary | null
  readonly failure: FailedStart | null
}

export async function prepare(place: StartPlace, plan: SpawnPlan): Promise<Prepared> {
  try {
    if (plan.pty !== null) return { pty: await ptyLibrary(), failure: null }
    if (plan.output !== 'direct' || plan.stdin === 'pipe') await place.fifos.ready()
    return { pty: null, failure: null }
  } catch (error) {
    if (error instanceof FailedStart) return { pty: null, failure: error }
    const message = error instanceof Error ? error.message : String(error)
    const failure = new FailedStart(
      `A pipe for it can't be made: ${message}.`,
      'Reeve needs the program mkfifo, and space on disk.',
    )
    return { pty: null, failure }
  }
}

/**
 * Starts a program. Its intent is on disk already. All of this happens at once, without giving anything else a turn, but for
 * what the system tells only afterwards. Throws FailedStart, or promises to.
 */
export function start(
  place: StartPlace,
  pid: string,
  plan: SpawnPlan,
  prepared: Prepared,
  eventsFor: (program: () => Program) => ProgramEvents,
): Program | Promise<Program> {
  if (prepared.failure !== null) throw prepared.failure
  const file = checkPlan(plan)
  const marker = markerOf(place.homeId, pid)
  const request: ForkRequest = { pid, file, plan, env: { ...plan.env, [MARKER]: marker } }
  const output = join(place.output, pid)
  const startedAt = Date.now()

  let program: Program | null = null
  const events: ForkedEvents = {
    bytes: (chunk, stream) => program?.bytes(chunk, stream) ?? true,
    outputEnded: () => program?.outputEnded(),
    exited: (code, signal) => program?.exited(code, signal),
  }
  const log = openLog(output, plan, {
    flows: () => program?.flows(),
    trouble: (message) => place.trouble(pid, message),
  })
  const undo = () => {
    log.close()
    rmSync(output, { recursive: true, force: true })
  }
  try {
    const forked = fork(place, request, prepared, events)
    if (forked instanceof Promise)
      return forked.then((failure) => {
        undo()
        throw failure
      })
    const identity = identityOf(forked)
    program = new Program(
      { pid, marker, plan: keptPlan(plan), identity, forked, log, startedAt },
      eventsFor(() => program!),
    )
    return program
  } catch (error) {
    undo()
    throw forkFailure(error, request)
  }
}

export function keptPlan({ env: _, stdin, ...plan }: SpawnPlan): KeptPlan {
  return { ...plan, stdin: typeof stdin === 'string' ? stdin : 'text' }
}

function fork(
  place: StartPlace,
  request: ForkRequest,
  prepared: Prepared,
  events: ForkedEvents,
): Forked | Promise<FailedStart> {
  const { plan } = request
  if (plan.pty !== null && prepared.pty !== null) return forkWithPty(prepared.pty, request, plan.pty, events)
  return forkWithFifos(request, { pool: place.fifos, folder: place.fifosFolder }, events)
}

/** It is a zombie at worst, since nobody has waited for it yet; only a terminal's program may be gone altogether. */
function identityOf({ osPid }: Forked): ProgramIdentity {
  return {
    osPid,
    startTime: startTimeOf(osPid),
    boot: bootId(),
    group: osPid,
    tree: 'marker',
    cgroup: null,
    memoryBy: null,
  }
}

function openLog(folder: string, plan: SpawnPlan, events: ConstructorParameters<typeof OutputLog>[2]) {
  try {
    return new OutputLog(folder, plan.caps, events)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new FailedStart(
      `Its output log can't be made: ${message}.`,
      'Free some space, or check the rights of the folder.',
    )
  }
}

async function ptyLibrary(): Promise<PtyLibrary> {
  try {
    return await loadPtyLibrary()
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new FailedStart(
      `There is no terminal to be had: the package @lydell/node-pty can't be loaded (${message}).`,
      'Install again with optional dependencies (npm ci --include=optional), or run it without a terminal.',
    )
  }
}
