import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, constants, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf, messageOf } from '../../base/error-text.ts'
import type { SpawnPlan } from '../protocol/spawn-plan.ts'
import { removeFile } from '../remove-file.ts'
import { limitArguments, withUmask } from './caller-limits.ts'
import { FailedStart } from './check-spawn-plan.ts'
import type { OpenedFifo } from './fifo-output.ts'
import type { FifoPool } from './fifo-pool.ts'
import { FifoInput, type Input, openInputFifo } from './input.ts'
import type { Stream } from './output-log.ts'

export interface ForkRequest {
  readonly pid: string
  /** The program's file, looked up. */
  readonly file: string
  readonly plan: SpawnPlan
  /** The FIFOs of the pool to use, as far as they exist. */
  readonly fifos: readonly string[]
  /** The plan's, with the marker. */
  readonly env: Readonly<Record<string, string>>
}

/** A program that has just been started: only its PID is known. */
export interface Forked {
  readonly osPid: number
  readonly input: Input | null
  readonly resize: ((cols: number, rows: number) => void) | null
  /** Read right after the fork, while the PID can't belong to another process. */
  kill(): void
}

/** The system reports some errors only a moment later. */
export type ForkAnswer<Success> = Success | Promise<FailedStart>

/** Never called before the forking call has returned. All output before the exit can be drained then. */
export type ExitHeard = (exitCode: number | null, signal: string | null) => void

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

/** Starts a program in a session of its own, without a terminal. On failure everything in `opened` is closed. */
export function forkChild(
  request: ForkRequest,
  fifos: FifoPool,
  opened: OpenedFds,
  openOutput: () => { readonly out: number; readonly err: number },
  exited: ExitHeard,
): ForkAnswer<Forked> {
  try {
    const { out, err } = openOutput()
    const { stdin, keeperFd } = openStdin(request, fifos, opened)
    const child = startChild(request, [stdin, out, err])
    if (child.pid === undefined) {
      opened.closeAll()
      return failureOf(child, request)
    }
    opened.closePrograms()
    child.on('exit', exited)
    const input = keeperFd === null ? null : new FifoInput(keeperFd)
    return { osPid: child.pid, input, resize: null, kill: () => child.kill('SIGKILL') }
  } catch (error) {
    opened.closeAll()
    throw forkFailure(error, request)
  }
}

export function forkFailure(error: unknown, { file }: Pick<ForkRequest, 'file'>): FailedStart {
  if (error instanceof FailedStart) return error
  return new FailedStart(
    `${file} can't be started: ${messageOf(error)}.`,
    REMEDIES[codeOf(error) ?? ''] ?? 'Try it in a terminal to see why.',
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

function startChild(request: ForkRequest, stdio: ('ignore' | number)[]): ChildProcess {
  const { file, argv0, args } = commandOf(request)
  const { plan, env } = request
  const child = withUmask(plan.umask, () =>
    spawn(file, args, { argv0, cwd: plan.cwd, env, stdio, detached: true }),
  )
  // Without a listener an error would be uncaught. Once there is a PID, only the exit counts.
  child.on('error', () => {})
  return child
}

/** The system's error, if there is no PID. */
function failureOf(child: ChildProcess, request: ForkRequest): Promise<FailedStart> {
  return new Promise((resolve) => child.once('error', (error) => resolve(forkFailure(error, request))))
}

function openStdin(
  { pid, plan }: ForkRequest,
  fifos: FifoPool,
  opened: OpenedFds,
): { stdin: 'ignore' | number; keeperFd: number | null } {
  if (plan.stdin === 'null') return { stdin: 'ignore', keeperFd: null }
  if (plan.stdin === 'pipe') {
    const path = fifos.take(`${pid}.in`)
    try {
      const { programFd, keeperFd } = openInputFifo(path)
      return { stdin: opened.programs(programFd), keeperFd: opened.keepers(keeperFd) }
    } finally {
      rmSync(path, { force: true })
    }
  }
  // A file rather than a pipe, so that no writer has to stay. Its name is removed before the program begins.
  const path = join(fifos.folder, `${pid}.in`)
  writeFileSync(path, plan.stdin.text, { mode: 0o600 })
  try {
    return { stdin: opened.programs(openSync(path, constants.O_RDONLY)), keeperFd: null }
  } finally {
    rmSync(path, { force: true })
  }
}

/**
 * File and arguments for exec: with a limit of open files, a shell sets the limit and then execs the program; prlimit does the
 * same with the limits of the caller.
 */
export function commandOf({ file, plan }: ForkRequest): { file: string; argv0: string; args: string[] } {
  const [argv0 = file, ...args] = plan.argv
  const { openFiles } = plan.limits
  const script = 'ulimit -n "$0" && exec "$@"'
  const shell = openFiles === null ? [] : ['/bin/sh', '-c', script, String(openFiles)]
  const [first, ...others] = [...limitArguments(plan), ...shell]
  if (first === undefined) return { file, argv0, args }
  return { file: first, argv0: first, args: [...others, file, ...args] }
}

/** Descriptors for a program: its own are closed here once it has them, and all of them if it never begins. */
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

  /** What else to undo if the program never begins. */
  otherwise(undo: () => void): void {
    this.#undo.push(undo)
  }

  closePrograms(): void {
    for (const fd of this.#programs.splice(0)) closeSync(fd)
  }

  closeAll(): void {
    this.closePrograms()
    for (const fd of this.#keepers.splice(0)) closeSync(fd)
    for (const undo of this.#undo.splice(0)) undo()
  }
}

/** In the folder of FIFOs. */
export function fifoName(pid: string, stream: Stream | null): string {
  return `${pid}.${stream === 'stderr' ? 'err' : 'out'}`
}
