import { constants, openSync } from 'node:fs'
import { join } from 'node:path'
import type { Intent, KeptPlan } from '../home/live-files.ts'
import { DirectLog } from '../log/direct-log.ts'
import { OutputLog, type Stream } from '../log/output-log.ts'
import { markerOf } from '../protocol/home.ts'
import type { ProgramIdentity } from '../protocol/messages.ts'
import { statOf } from '../tree/stat.ts'
import { DirectOutput } from './direct-output.ts'
import { FifoOutput, type OpenedFifo } from './fifo-output.ts'
import { fifoName } from './fork-with-fifos.ts'
import type { Input } from './input.ts'
import { Program, type ProgramEvents } from './program.ts'
import type { ProgramPlace } from './program-place.ts'
import { ProgramTree } from './program-tree.ts'

/**
 * Goes on with a program that a dead keeper started: reads what comes through its pipes, and keeps its limits. Its terminal,
 * its input and its exit code are gone with that keeper.
 */
export function takeOver(
  place: ProgramPlace,
  { pid, plan, at }: Intent,
  identity: ProgramIdentity,
  events: ProgramEvents,
): Program {
  const tree = new ProgramTree(identity, markerOf(place.homeId, pid), place.cgroups)
  const heard: { program: Program | null } = { program: null }
  const program = new Program(
    {
      ...{ pid, plan, tree, startedAt: at, orphaned: true, resize: null },
      ...refill(place, pid, plan, tree, heard),
      input: plan.stdin === 'pipe' || plan.pty !== null ? closedInput : null,
      paused: statOf(identity.osPid)?.state === 'T',
      usageLimits: place.usageLimits,
    },
    events,
  )
  heard.program = program
  return program
}

/** Its log is gone on with at its end. */
function refill(
  place: ProgramPlace,
  pid: string,
  plan: KeptPlan,
  tree: ProgramTree,
  heard: { readonly program: Program | null },
) {
  const folder = join(place.output, pid)
  const trouble = (message: string) => place.trouble(pid, message)
  const ended = () => heard.program?.outputEnded()
  if (plan.pty === null && plan.output === 'direct') {
    const log = new DirectLog(folder, plan.caps, trouble)
    const grew = () => heard.program?.grew()
    const held = (isHeld: boolean) => heard.program?.held(isHeld)
    return { log, output: new DirectOutput(log, { grew, held, ended }, () => !tree.isEmpty()) }
  }
  const log = new OutputLog(folder, plan.caps, { trouble, flows: () => heard.program?.flows() })
  const bytes = (chunk: Buffer, stream: Stream | null) => {
    const flows = log.append(chunk, stream)
    heard.program?.grew()
    return flows
  }
  const streams = plan.pty !== null ? [] : plan.output === 'tagged' ? (['stdout', 'stderr'] as const) : [null]
  const fifos = streams.flatMap((stream) => reopened(join(place.fifos.folder, fifoName(pid, stream)), stream))
  return { log, output: new FifoOutput(fifos, { bytes, ended }) }
}

function reopened(path: string, stream: Stream | null): OpenedFifo[] {
  try {
    return [{ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), path, stream }]
  } catch (error) {
    // Its keeper died between its end and the record of it: what came through it is in the log.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

/** The only end that wrote has gone with the keeper. */
const closedInput: Input = {
  write: () => ({ type: 'closed' }),
  end: () => {},
  close: () => {},
}
