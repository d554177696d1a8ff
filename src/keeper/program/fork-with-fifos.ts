import { constants, openSync } from 'node:fs'
import type { Stream } from '../log/output-log.ts'
import { removeFile } from '../remove-file.ts'
import type { OpenedFifo } from './fifo-output.ts'
import type { FifoPool } from './fifo-pool.ts'
import {
  type ExitHeard,
  type ForkAnswer,
  type Forked,
  type ForkRequest,
  forkChild,
  OpenedFds,
} from './fork-child.ts'

/**
 * Starts a program whose output comes through named FIFOs. The program has them open for reading and writing, so they live as long
 * as it does, with or without a keeper.
 */
export function forkWithFifos(
  request: ForkRequest,
  pool: FifoPool,
  exited: ExitHeard,
): ForkAnswer<Forked & { readonly fifos: readonly OpenedFifo[] }> {
  const opened = new OpenedFds()
  const fifos: OpenedFifo[] = []
  const open = (stream: Stream | null) => {
    const path = pool.take(fifoName(request.pid, stream), request.fifos[fifos.length])
    opened.otherwise(() => removeFile(path))
    const fd = opened.keepers(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK))
    fifos.push({ fd, path, stream })
    return opened.programs(openSync(path, constants.O_RDWR))
  }
  const openOutput = () => {
    if (request.plan.output === 'tagged') return { out: open('stdout'), err: open('stderr') }
    const both = open(null)
    return { out: both, err: both }
  }
  const forked = forkChild(request, pool, opened, openOutput, exited)
  return forked instanceof Promise ? forked : Object.assign(forked, { fifos })
}

/** In the folder of FIFOs. */
export function fifoName(pid: string, stream: Stream | null): string {
  return `${pid}.${stream === 'stderr' ? 'err' : 'out'}`
}
