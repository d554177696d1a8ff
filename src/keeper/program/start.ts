import { rmSync } from 'node:fs'
import { messageOf } from '../../base/error-text.ts'
import { bootId } from '../../os/boot.ts'
import { startTimeOf } from '../../os/identity.ts'
import { MARKER } from '../../os/program-marks.ts'
import { markerOf } from '../protocol/data-folder-paths.ts'
import type { ProgramIdentity } from '../protocol/program-state.ts'
import type { SpawnPlan } from '../protocol/spawn-plan.ts'
import { checkSpawnPlan, FailedStart } from './check-spawn-plan.ts'
import { FifoOutput } from './fifo-output.ts'
import { Filling } from './filling.ts'
import {
  type ExitHeard,
  type ForkAnswer,
  type Forked,
  type ForkRequest,
  forkChild,
  forkFailure,
  forkWithFifos,
  OpenedFds,
} from './fork-child.ts'
import { forkWithPty } from './fork-with-pty.ts'
import type { StoredSpawnPlan } from './live-files.ts'
import type { Output } from './output.ts'
import type { Prepared } from './prepare.ts'
import { Program, type ProgramEvents } from './program.ts'
import type { ProgramContext } from './program-context.ts'
import type { ProgramLog } from './program-log.ts'
import { ProgramTree } from './program-tree.ts'
import { PtyOutput } from './pty-output.ts'

/**
 * Starts a program whose intent is on disk already. Synchronous, except that some failures become known a moment later. Throws
 * FailedStart, or returns a promise of it.
 */
export function start(
  context: ProgramContext,
  { pid, plan, fifos }: Pick<ForkRequest, 'pid' | 'plan' | 'fifos'>,
  prepared: Prepared,
  events: ProgramEvents,
): ForkAnswer<Program> {
  if (prepared.failure !== null) throw prepared.failure
  const file = checkSpawnPlan(plan)
  const marker = markerOf(context.homeId, pid)
  const request: ForkRequest = { pid, file, plan, fifos, env: { ...plan.env, [MARKER]: marker } }
  const startedAt = Date.now()
  const filling = new Filling(context, pid, plan.caps)
  const { log, fork } = planned(context, request, prepared, filling)
  const leaf = prepared.hasTurn ? (context.cgroups?.take() ?? null) : null
  const undo = () => {
    if (leaf !== null) context.cgroups?.giveBack(leaf)
    log.close()
    rmSync(filling.folder, { recursive: true, force: true })
  }
  let forked: ForkAnswer<Filled> | null = null
  try {
    forked = fork()
    if (forked instanceof Promise) return forked.finally(undo)
    const tree = new ProgramTree(identityOf(context, plan, forked, leaf), marker, context.cgroups)
    const { input, resize, output } = forked
    if (plan.pty !== null) log.size(plan.pty.cols, plan.pty.rows)
    filling.program = new Program(
      {
        pid,
        plan: storedSpawnPlan(plan),
        tree,
        log,
        output: output(tree),
        input,
        resize,
        startedAt,
        orphaned: false,
        paused: false,
        usageLimits: context.usageLimits,
        usageSamples: context.usageSamples,
      },
      events,
    )
    return filling.program
  } catch (error) {
    // A program that cannot be supervised must not run.
    if (forked !== null && !(forked instanceof Promise)) forked.kill()
    undo()
    throw forkFailure(error, request)
  }
}

export function storedSpawnPlan({ env: _, stdin, ...plan }: SpawnPlan): StoredSpawnPlan {
  return { ...plan, stdin: typeof stdin === 'string' ? stdin : 'text' }
}

/** The forked program, and its output. */
type Filled = Forked & { readonly output: (tree: ProgramTree) => Output }

/** The log, and the start of the program that fills it. */
function planned(
  context: ProgramContext,
  request: ForkRequest,
  prepared: Prepared,
  filling: Filling,
): { readonly log: ProgramLog; readonly fork: () => ForkAnswer<Filled> } {
  const { plan } = request
  const { pty: size } = plan
  const { pty } = prepared
  const exited: ExitHeard = (code, signal) => filling.program?.exited(code, signal)
  if (size === null && plan.output === 'direct') {
    const { log, output } = opened(() => filling.openDirectLog())
    const openOutput = () => ({ out: log.fd, err: log.fd })
    const fork = () => forkChild(request, context.fifos, new OpenedFds(), openOutput, exited)
    return { log, fork: () => filled(fork(), () => output) }
  }
  const { log, events } = opened(() => filling.openLog())
  if (size !== null && pty !== null) {
    const fork = () => forkWithPty(pty, request, size, exited)
    return { log, fork: () => filled(fork(), (forked) => () => new PtyOutput(forked.pty, events)) }
  }
  const fork = () => forkWithFifos(request, context.fifos, exited)
  return {
    log,
    fork: () => filled(fork(), (forked) => () => new FifoOutput(forked.fifos, context.fifos, events)),
  }
}

function filled<Success extends Forked>(
  forked: ForkAnswer<Success>,
  outputOf: (forked: Success) => Filled['output'],
): ForkAnswer<Filled> {
  return forked instanceof Promise ? forked : Object.assign(forked, { output: outputOf(forked) })
}

/** At worst a zombie, because its exit is not reaped yet; only a program in a terminal may be gone altogether. */
function identityOf(
  { cgroups }: ProgramContext,
  { limits: { memoryBytes } }: SpawnPlan,
  { osPid }: Forked,
  cgroup: string | null,
): ProgramIdentity {
  const isLimited =
    memoryBytes !== null && cgroup !== null && cgroups?.limitMemory(cgroup, osPid, memoryBytes) === true
  return {
    osPid,
    startTime: startTimeOf(osPid),
    boot: bootId(),
    group: osPid,
    tree: cgroup === null ? 'marker' : 'cgroup',
    cgroup,
    memoryBy: memoryBytes === null ? null : isLimited ? 'cgroup' : 'sampled',
  }
}

function opened<Log>(open: () => Log): Log {
  try {
    return open()
  } catch (error) {
    throw new FailedStart(
      `Its output log can't be made: ${messageOf(error)}.`,
      'Free some space, or check the rights of the folder.',
    )
  }
}
