import { closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../base/error-text.ts'
import { statOf } from '../../os/stat.ts'
import { markerOf } from '../protocol/data-folder-paths.ts'
import type { ProgramIdentity } from '../protocol/program-state.ts'
import { FifoOutput, type OpenedFifo } from './fifo-output.ts'
import { Filling } from './filling.ts'
import { fifoName } from './fork-child.ts'
import type { Input } from './input.ts'
import type { Intent } from './live-files.ts'
import type { Stream } from './output-log.ts'
import { Program, type ProgramEvents } from './program.ts'
import type { ProgramContext } from './program-context.ts'
import { ProgramTree } from './program-tree.ts'

/** The plan of the program, and when it was begun. */
type Begun = Pick<Intent, 'pid' | 'plan' | 'at'>

/**
 * Takes over a program that a dead keeper started: reads its pipes, and enforces its limits. Its terminal, its input and its exit
 * code are lost with that keeper.
 */
export function takeOver(
  context: ProgramContext,
  begun: Begun,
  identity: ProgramIdentity,
  events: ProgramEvents,
): Program {
  const { pid, plan, at: startedAt } = begun
  const tree = new ProgramTree(identity, markerOf(context.homeId, pid), context.cgroups)
  const filling = new Filling(context, pid, plan.caps)
  filling.program = new Program(
    {
      pid,
      plan,
      tree,
      startedAt,
      orphaned: true,
      resize: null,
      ...refilled(context, begun, tree, filling),
      input: plan.stdin === 'pipe' || plan.pty !== null ? closedInput : null,
      paused: statOf(identity.osPid)?.state === 'T',
      usageLimits: context.usageLimits,
      usageSamples: context.usageSamples,
    },
    events,
  )
  return filling.program
}

/** Continues its log. */
function refilled(context: ProgramContext, { pid, plan }: Begun, tree: ProgramTree, filling: Filling) {
  if (plan.pty === null && plan.output === 'direct') {
    const { log, output } = filling.openDirectLog()
    return { log, output: output(tree) }
  }
  const { log, events } = filling.openLog()
  const streams = plan.output === 'tagged' ? (['stdout', 'stderr'] as const) : [null]
  const fifos: OpenedFifo[] = []
  try {
    for (const stream of streams)
      fifos.push(...reopened(join(context.fifos.folder, fifoName(pid, stream)), stream))
  } catch (error) {
    for (const { fd } of fifos) closeSync(fd)
    log.close()
    throw error
  }
  return { log, output: new FifoOutput(fifos, context.fifos, events) }
}

function reopened(path: string, stream: Stream | null): OpenedFifo[] {
  try {
    return [{ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), path, stream }]
  } catch (error) {
    // A terminal has no pipe; and if its keeper died between the end and the record of it, all output is in the log.
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

/** The write end is gone with the keeper. */
const closedInput: Input = {
  write: () => ({ type: 'closed' }),
  end: () => {},
  close: () => {},
}
