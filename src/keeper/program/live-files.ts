import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../base/error-text.ts'
import type { KeeperIdentity, ProgramIdentity, ProgramState } from '../protocol/program-state.ts'
import type { SpawnPlan } from '../protocol/spawn-plan.ts'
import { removeFile } from '../remove-file.ts'
import type { SpareFiles } from './spare-files.ts'

/** The part of a plan that is kept: without the environment and the input, which are often secret. */
export interface StoredSpawnPlan extends Omit<SpawnPlan, 'env' | 'stdin'> {
  readonly stdin: 'null' | 'pipe' | 'text'
}

export interface Intent {
  readonly pid: string
  readonly fence: number
  readonly keeper: KeeperIdentity
  readonly boot: string
  readonly at: number
  readonly plan: StoredSpawnPlan
}

export type SettledState = Exclude<ProgramState, { state: 'running' }>

/** The files of `live/`, which tell the next keeper about programs. Each file is complete, or missing. */
export class LiveFiles {
  readonly #folder: string
  readonly #files: SpareFiles

  constructor(folder: string, files: SpareFiles) {
    this.#folder = folder
    this.#files = files
  }

  /** False if an intent exists already: then this pid has been begun, and is never begun again. */
  claim(intent: Intent): boolean {
    const path = this.#files.fill(JSON.stringify(intent), false)
    try {
      linkSync(path, this.#path(intent.pid, 'intent'))
      return true
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false
      throw error
    } finally {
      removeFile(path)
    }
  }

  writeProgram(pid: string, program: ProgramIdentity): void {
    renameSync(this.#files.fill(JSON.stringify(program), false), this.#path(pid, 'program'))
  }

  /** `durable`: flushed, so that it survives a power cut. */
  writeSettled(state: SettledState, durable: boolean): void {
    renameSync(this.#files.fill(JSON.stringify(state), durable), this.#path(state.pid, 'exit'))
    if (durable) syncFolder(this.#folder)
  }

  /** Removes the intent first: without it the other files mean nothing, so that a half-done removal is complete. */
  forget(pid: string): void {
    for (const ending of ENDINGS) this.#files.takeBack(this.#path(pid, ending))
  }

  /** Remembers the cgroup of a forgotten program in which descendants still live. */
  writeLeft(pid: string, program: ProgramIdentity): void {
    renameSync(this.#files.fill(JSON.stringify(program), false), this.#path(pid, 'left'))
  }

  leftOf(pid: string): ProgramIdentity | undefined {
    return read<ProgramIdentity>(this.#path(pid, 'left'))
  }

  forgetLeft(pid: string): void {
    this.#files.takeBack(this.#path(pid, 'left'))
  }

  /** The pids with a remembered cgroup. */
  lefts(): string[] {
    return readdirSync(this.#folder)
      .filter((name) => name.endsWith('.left'))
      .map((name) => name.slice(0, -5))
  }

  /** The pids that were begun. Removes files without an intent. */
  begun(): string[] {
    const names = readdirSync(this.#folder).filter((name) => !name.endsWith('.left'))
    const pids = names.filter((name) => name.endsWith('.intent')).map((name) => name.slice(0, -7))
    const known = new Set(pids)
    for (const name of names) {
      const pid = name.slice(0, name.indexOf('.'))
      if (!known.has(pid)) rmSync(join(this.#folder, name), { force: true })
    }
    return pids
  }

  /** Undefined if the file is missing, or was cut short by a power cut or a full disk. */
  intentOf(pid: string): Intent | undefined {
    return read<Intent>(this.#path(pid, 'intent'))
  }

  programOf(pid: string): ProgramIdentity | undefined {
    return read<ProgramIdentity>(this.#path(pid, 'program'))
  }

  settledOf(pid: string): SettledState | undefined {
    return read<SettledState>(this.#path(pid, 'exit'))
  }

  #path(pid: string, ending: (typeof ENDINGS)[number] | 'left'): string {
    return join(this.#folder, `${pid}.${ending}`)
  }
}

const ENDINGS = ['intent', 'program', 'exit'] as const

function read<Content>(path: string): Content | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
  try {
    return JSON.parse(text) as Content
  } catch {
    // Cut short: its content is then found out by other means.
    return undefined
  }
}

function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
