import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { KeptPlan } from '../home/live-files.ts'
import { DirectLog } from '../log/direct-log.ts'
import { OutputLog } from '../log/output-log.ts'
import type { ProgramLog } from '../log/program-log.ts'
import { MARKER, markerOf } from '../protocol/home.ts'
import type { ProgramIdentity, SpawnPlan } from '../protocol/messages.ts'
import { bootId, startTimeOf } from '../tree/identity.ts'
import { checkPlan, FailedStart } from './check-plan.ts'
import { DirectOutput } from './direct-output.ts'
import { FifoOutput } from './fifo-output.ts'
import { forkChild, forkFailure } from './fork-child.ts'
import { forkWithFifos } from './fork-with-fifos.ts'
import { forkWithPty } from './fork-with-pty.ts'
import type { ForkAnswer, Forked, ForkRequest } from './forked.ts'
import { OpenedFds } from './opened-fds.ts'
import type { Output } from './output.ts'
import type { Prepared } from './prepare.ts'
import { Program, type ProgramEvents } from './program.ts'
import type { ProgramPlace } from './program-place.ts'
import { ProgramTree } from './program-tree.ts'
import { PtyOutput } from './pty-output.ts'

/**
 * Starts a program. Its intent is on disk already. All of this happens at once, without giving anything else a turn; only some
 * failures become known a moment later. Throws FailedStart, or answers with it.
 */
export function start(
  place: ProgramPlace,
  pid: string,
  plan: SpawnPlan,
  prepared: Prepared,
  events: ProgramEvents,
): ForkAnswer<Program> {
  if (prepared.failure !== null) throw prepared.failure
  const file = checkPlan(plan)
  const marker = markerOf(place.homeId, pid)
  const request: ForkRequest = { pid, file, plan, env: { ...plan.env, [MARKER]: marker } }
  const startedAt = Date.now()
  const heard = new Heard()
  const folder = join(place.output, pid)
  const filling = prepareFilling(place, request, prepared, folder, heard)
  const leaf = prepared.hasTurn ? (place.cgroups?.take() ?? null) : null
  const undo = () => {
    if (leaf !== null) place.cgroups?.giveBack(leaf)
    filling.log.close()
    rmSync(folder, { recursive: true, force: true })
  }
  let forked: ReturnType<Filling['fork']> | null = null
  try {
    forked = filling.fork()
    if (forked instanceof Promise) return forked.finally(undo)
    const tree = new ProgramTree(identityOf(place, plan, forked, leaf), marker, place.cgroups)
    const { input, resize, fill } = forked
    const { log } = filling
    if (plan.pty !== null) log.size(plan.pty.cols, plan.pty.rows)
    heard.program = new Program(
      {
        ...{ pid, plan: keptPlan(plan), tree, log, output: fill(tree), input, resize, startedAt },
        ...{ orphaned: false, paused: false, usageLimits: place.usageLimits },
      },
      events,
    )
    return heard.program
  } catch (error) {
    // A program that nobody could look after must not run.
    if (forked !== null && !(forked instanceof Promise)) forked.kill()
    undo()
    throw forkFailure(error, request)
  }
}

export function keptPlan({ env: _, stdin, ...plan }: SpawnPlan): KeptPlan {
  return { ...plan, stdin: typeof stdin === 'string' ? stdin : 'text' }
}

/** Where a program's events go. It is there before the first of them: they come with a later turn. */
class Heard {
  program: Program | null = null
}

type Filling = {
  readonly log: ProgramLog
  readonly fork: () => ForkAnswer<Forked & { readonly fill: (tree: ProgramTree) => Output }>
}

/** The log, and how the program that is to fill it is started. */
function prepareFilling(
  place: ProgramPlace,
  request: ForkRequest,
  prepared: Prepared,
  folder: string,
  heard: Heard,
): Filling {
  const { pid, plan } = request
  const exited = (code: number | null, signal: string | null) => heard.program?.exited(code, signal)
  const trouble = (message: string) => place.trouble(pid, message)
  const ended = () => heard.program?.outputEnded()

  if (plan.pty === null && plan.output === 'direct') {
    const log = made(() => new DirectLog(folder, plan.caps, trouble))
    const grew = () => heard.program?.grew()
    const held = (isHeld: boolean) => heard.program?.held(isHeld)
    const fill = (tree: ProgramTree) => new DirectOutput(log, { grew, held, ended }, () => !tree.isEmpty())
    const open = () => ({ out: log.fd, err: log.fd })
    const fork = () => filledBy(forkChild(request, place.fifos, new OpenedFds(), open, exited), () => fill)
    return { log, fork }
  }

  const log = made(() => new OutputLog(folder, plan.caps, { trouble, flows: () => heard.program?.flows() }))
  const bytes = (chunk: Buffer, stream: Parameters<OutputLog['append']>[1]) => {
    const flows = log.append(chunk, stream)
    heard.program?.grew()
    return flows
  }
  const { pty: size } = plan
  const { pty } = prepared
  const fork =
    size !== null && pty !== null
      ? () =>
          filledBy(
            forkWithPty(pty, request, size, exited),
            (forked) => () => new PtyOutput(forked.pty, { bytes }),
          )
      : () =>
          filledBy(
            forkWithFifos(request, place.fifos, exited),
            (forked) => () => new FifoOutput(forked.fifos, { bytes, ended }),
          )
  return { log, fork }
}

function filledBy<Success extends Forked>(
  forked: ForkAnswer<Success>,
  fillBy: (forked: Success) => (tree: ProgramTree) => Output,
): ReturnType<Filling['fork']> {
  if (forked instanceof Promise) return forked
  const { osPid, input, resize, kill } = forked
  return { osPid, input, resize, kill, fill: fillBy(forked) }
}

/** It is a zombie at worst, since nobody has waited for it yet; only a terminal's program may be gone altogether. */
function identityOf(
  { cgroups }: ProgramPlace,
  { limits: { memoryBytes } }: SpawnPlan,
  { osPid }: Forked,
  cgroup: string | null,
): ProgramIdentity {
  const isLimited =
    memoryBytes !== null && cgroup !== null && cgroups?.limitMemory(cgroup, osPid, memoryBytes)
  return {
    ...{ osPid, startTime: startTimeOf(osPid), boot: bootId(), group: osPid },
    ...{ tree: cgroup === null ? 'marker' : 'cgroup', cgroup },
    memoryBy: memoryBytes === null ? null : isLimited === true ? 'cgroup' : 'sampled',
  }
}

function made<Log>(make: () => Log): Log {
  try {
    return make()
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new FailedStart(
      `Its output log can't be made: ${message}.`,
      'Free some space, or check the rights of the folder.',
    )
  }
}
