import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, constants, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Stream } from '../log/output-log.ts'
import { FailedStart } from './check-plan.ts'
import { FifoOutput } from './fifo-output.ts'
import type { FifoPool } from './fifo-pool.ts'
import { commandOf, type Forked, type ForkedEvents, type ForkRequest } from './forked.ts'
import { FifoInput, type Input, openInputFifo } from './input.ts'

/**
 * Starts a program whose output comes through named FIFOs. It has them open for reading and writing, so they live as long as
 * it does, whoever reads them.
 *
 * The system says some errors only a moment later; then the answer is a promise of what went wrong.
 */
export function forkWithFifos(
  request: ForkRequest,
  fifos: { readonly pool: FifoPool; readonly folder: string },
  events: ForkedEvents,
): Forked | Promise<FailedStart> {
  const opened = new OpenedFds()
  const outputs: { fd: number; path: string; stream: Stream | null }[] = []
  const openOutput = (ending: string, stream: Stream | null) => {
    const path = fifos.pool.take(`${request.pid}.${ending}`)
    opened.onFailure(() => rmSync(path, { force: true }))
    const fd = opened.keepers(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK))
    outputs.push({ fd, path, stream })
    return opened.programs(openSync(path, constants.O_RDWR))
  }
  try {
    const isTagged = request.plan.output === 'tagged'
    const out = openOutput('out', isTagged ? 'stdout' : null)
    const err = isTagged ? openOutput('err', 'stderr') : out
    const { stdin, keeperFd } = openStdin(request, fifos, opened)
    const child = startChild(request, [stdin, out, err])
    if (child.pid === undefined) {
      opened.fail()
      return failureOf(child, request)
    }
    opened.closePrograms()
    child.on('exit', (code, signal) => events.exited(code, signal))
    const input: Input | null = keeperFd === null ? null : new FifoInput(keeperFd)
    return { osPid: child.pid, output: new FifoOutput(outputs, events), input, resize: null }
  } catch (error) {
    opened.fail()
    throw forkFailure(error, request)
  }
}

export function startChild(request: ForkRequest, stdio: ('ignore' | number)[]): ChildProcess {
  const { file, argv0, args } = commandOf(request)
  const { plan, env } = request
  const child = spawn(file, args, { argv0, cwd: plan.cwd, env, stdio, detached: true })
  // Without a listener an error would end the keeper. Once there is a PID, the exit is what counts.
  child.on('error', () => {})
  return child
}

/** What the system said when it gave no PID. */
export function failureOf(child: ChildProcess, request: ForkRequest): Promise<FailedStart> {
  return new Promise((resolve) => child.once('error', (error) => resolve(forkFailure(error, request))))
}

export function forkFailure(error: unknown, { file }: ForkRequest): FailedStart {
  if (error instanceof FailedStart) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const message = error instanceof Error ? error.message : String(error)
  return new FailedStart(
    `${file} can't be started: ${message}.`,
    REMEDIES[code] ?? 'Try it in a terminal to see why.',
  )
}

const REMEDIES: Readonly<Record<string, string>> = {
  E2BIG: 'Arguments and environment are too long together: give them through a file or standard input.',
  EAGAIN: 'There are too many OS processes: end some, or raise the limit (ulimit -u).',
  EMFILE: 'Too many files are open: end some programs, or raise the limit (ulimit -n).',
  ENFILE: 'Too many files are open on this machine: end some programs.',
  ENOMEM: 'There is too little memory: end something else first.',
  ENOSPC: 'The disk is full: free some space.',
  ENOENT: 'If it is a script, the interpreter in its first line is missing: install it, or mend the line.',
  ENOEXEC: 'It is no program for this machine; a script needs a first line such as #!/bin/sh.',
  EACCES: 'Check the rights of the file and of the folders above it.',
}

function openStdin(
  { pid, plan }: ForkRequest,
  { pool, folder }: { readonly pool: FifoPool; readonly folder: string },
  opened: OpenedFds,
): { stdin: 'ignore' | number; keeperFd: number | null } {
  if (plan.stdin === 'null') return { stdin: 'ignore', keeperFd: null }
  if (plan.stdin === 'pipe') {
    const path = pool.take(`${pid}.in`)
    try {
      const { programFd, keeperFd } = openInputFifo(path)
      return { stdin: opened.programs(programFd), keeperFd: opened.keepers(keeperFd) }
    } finally {
      rmSync(path, { force: true })
    }
  }
  // A file rather than a pipe: nobody has to stay to write it. Its name is gone before the program begins.
  const path = join(folder, `${pid}.in`)
  writeFileSync(path, plan.stdin.text, { mode: 0o600 })
  try {
    return { stdin: opened.programs(openSync(path, constants.O_RDONLY)), keeperFd: null }
  } finally {
    rmSync(path, { force: true })
  }
}

/** Descriptors on their way to a program: its own are closed here as soon as it has them, all if it never begins. */
export class OpenedFds {
  readonly #keepers: number[] = []
  readonly #programs: number[] = []
  readonly #undo: (() => void)[] = []

  keepers(fd: number): number {
    this.#keepers.push(fd)
    return fd
  }

  programs(fd: number): number {
    this.#programs.push(fd)
    return fd
  }

  onFailure(undo: () => void): void {
    this.#undo.push(undo)
  }

  closePrograms(): void {
    for (const fd of this.#programs.splice(0)) closeSync(fd)
  }

  fail(): void {
    this.closePrograms()
    for (const fd of this.#keepers.splice(0)) closeSync(fd)
    for (const undo of this.#undo.splice(0)) undo()
  }
}
