import { closeSync, constants, openSync, readFileSync, readSync, type Stats, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { allows } from '../../os/file-access.ts'
import type { SpawnPlan } from '../protocol/spawn-plan.ts'
import { isSignal } from './signal-names.ts'

/** Why a program cannot be started, in words for the caller. */
export class FailedStart extends Error {
  readonly remedy: string

  constructor(message: string, remedy: string) {
    super(message)
    this.remedy = remedy
  }
}

/** The program's file, if the plan can be carried out. Throws FailedStart if not. */
export function checkSpawnPlan(plan: SpawnPlan): string {
  const name = plan.argv[0]
  if (name === undefined || name === '')
    throw new FailedStart('There is no program in argv.', 'Give argv at least one word.')
  const texts = [...plan.argv, plan.cwd, ...Object.entries(plan.env).flat()]
  if (texts.some((text) => text.includes('\0')))
    throw new FailedStart(
      'A word of argv, cwd or env has a zero byte in it.',
      'Leave it out: no program can be given one.',
    )
  checkFolder(plan.cwd)
  checkLimits(plan)
  const file = programFile(name, plan)
  checkTyped(plan)
  const isWrapped = plan.limits.openFiles !== null || plan.rlimits !== undefined
  if (plan.pty !== null || isWrapped) checkInterpreter(file)
  return file
}

/** A terminal cuts longer lines silently. */
const MAX_TYPED_BYTES = 4095

function checkTyped({ pty, stdin }: SpawnPlan): void {
  if (pty === null || typeof stdin === 'string') return
  const lengths = stdin.text.split(/[\n\r]/).map((line) => Buffer.byteLength(line))
  const longest = lengths.reduce((one, other) => Math.max(one, other), 0)
  if (longest > MAX_TYPED_BYTES)
    throw new FailedStart(
      `A line of its input has ${longest} bytes, and a terminal takes ${MAX_TYPED_BYTES}.`,
      'Use shorter lines, or run it without a terminal.',
    )
}

/**
 * Checked in advance, because in a terminal the system's error about a missing interpreter would look like the program's own
 * output; so would an error of the program that sets its limits.
 */
function checkInterpreter(file: string): void {
  const interpreter = interpreterOf(file)
  if (interpreter === undefined || (statOf(interpreter)?.isFile() && allows(interpreter, constants.X_OK)))
    return
  throw new FailedStart(
    `${file} can't be started: ${interpreter}, the interpreter in its first line, is no program.`,
    'Install it, or mend the line.',
  )
}

function interpreterOf(file: string): string | undefined {
  let fd: number
  try {
    fd = openSync(file, 'r')
  } catch {
    // The interpreter of a program that may be executed but not read is unknown.
    return undefined
  }
  try {
    const start = Buffer.alloc(256)
    const line = start.toString('latin1', 0, readSync(fd, start)).split('\n', 1)[0]
    return /^#![ \t]*(\/[^ \t]+)/.exec(line ?? '')?.[1]
  } finally {
    closeSync(fd)
  }
}

function checkFolder(cwd: string): void {
  if (!isAbsolute(cwd))
    throw new FailedStart(`The folder ${cwd} is not absolute.`, 'Give cwd from the root on.')
  const found = statOf(cwd)
  if (found === undefined)
    throw new FailedStart(`There is no folder ${cwd}.`, 'Make it, or give another cwd.')
  if (!found.isDirectory()) throw new FailedStart(`${cwd} is not a folder.`, 'Give another cwd.')
  if (!allows(cwd, constants.X_OK))
    throw new FailedStart(`The folder ${cwd} may not be entered.`, 'Change its rights, or give another cwd.')
}

function checkLimits(plan: SpawnPlan): void {
  if (!isSignal(plan.endSignal))
    throw new FailedStart(`There is no signal ${plan.endSignal}.`, 'Use a name such as SIGTERM.')
  if (plan.pty !== null && !isSize(plan.pty.cols, plan.pty.rows))
    throw new FailedStart(
      `A terminal can't be ${plan.pty.cols} × ${plan.pty.rows} characters large.`,
      'Use whole numbers from 1 to 65535.',
    )
  const limits = { ...plan.limits, timeoutMs: plan.timeoutMs, idleTimeoutMs: plan.idleTimeoutMs }
  for (const [name, value] of Object.entries(limits))
    if (value !== null && !(Number.isFinite(value) && value > 0))
      throw new FailedStart(`The limit ${name} is ${value}.`, 'Use a number greater than 0, or leave it out.')
  if (plan.limits.openFiles !== null) checkOpenFiles(plan.limits.openFiles)
}

function checkOpenFiles(wanted: number): void {
  if (!Number.isInteger(wanted) || wanted < 3)
    throw new FailedStart(`The limit openFiles is ${wanted}.`, 'Use a whole number, 3 or more.')
  const most = mostOpenFiles()
  if (wanted > most)
    throw new FailedStart(
      `The limit openFiles is ${wanted}, and the system allows ${most}.`,
      `Use ${most} or less, or raise the hard limit of the shell or service that starts Reeve.`,
    )
}

function mostOpenFiles(): number {
  let limits: string
  try {
    limits = readFileSync('/proc/self/limits', 'utf8')
  } catch {
    // Not Linux: the shell that sets the limit reports a failure.
    return Number.POSITIVE_INFINITY
  }
  const hard = /^Max open files\s+\S+\s+(\S+)/m.exec(limits)?.[1]
  return hard === undefined || hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard)
}

export function isSize(cols: number, rows: number): boolean {
  return [cols, rows].every((side) => Number.isInteger(side) && side >= 1 && side <= 65_535)
}

/** Finds the file as a shell does, in the environment and the folder of the program. */
function programFile(name: string, plan: SpawnPlan): string {
  const path = plan.env['PATH'] ?? DEFAULT_PATH
  const candidates = name.includes('/')
    ? [resolve(plan.cwd, name)]
    : path.split(delimiter).map((folder) => join(resolve(plan.cwd, folder), name))
  let found: string | undefined
  for (const file of candidates) {
    const stat = statOf(file)
    if (stat === undefined) continue
    found ??= file
    if (stat.isFile() && (stat.mode & 0o111) !== 0 && allows(file, constants.X_OK)) return file
  }
  throw notRunnable(name, candidates[0] ?? name, path, found)
}

function notRunnable(name: string, asked: string, path: string, found: string | undefined): FailedStart {
  if (found !== undefined && statOf(found)?.isDirectory())
    return new FailedStart(`${found} is a folder.`, 'Name the program in it.')
  if (found !== undefined)
    return new FailedStart(
      `${found} can't be run: it is no executable file.`,
      'Make it executable (chmod +x), or name another.',
    )
  const isLine = name.includes(' ')
  const forLines = isLine ? ' For a line with arguments use `run`, or split it into words.' : ''
  return name.includes('/')
    ? new FailedStart(`There is no program ${asked}.`, `Give the path of one that exists.${forLines}`)
    : new FailedStart(
        `There is no program ${name} in PATH (${path}).`,
        `Install it, add its folder to PATH, or give its whole path.${forLines}`,
      )
}

const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin'

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    // A file that cannot be inspected (a parent is closed, or is a file) cannot be started either.
    return undefined
  }
}
