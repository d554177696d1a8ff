import { execFile } from 'node:child_process'
import { realpath, stat } from 'node:fs/promises'
import { codeOf } from '../../base/error-text.ts'
import { RefusedError } from '../../core/errors.ts'
import { refusal } from '../../core/refusal.ts'

const MAX_MS = 120_000
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024

export interface GitAnswer {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** No hook of the repository runs for what Reeve does by itself, and nothing asks a person. */
const SETTINGS = ['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'commit.gpgSign=false', 'gc.auto=0']

/** Runs git in a folder, without a shell. Throws a refusal if there is no git. */
export function git(cwd: string, args: readonly string[]): Promise<GitAnswer> {
  const whole = [...SETTINGS.flatMap((setting) => ['-c', setting]), ...args]
  return new Promise((resolve, reject) => {
    execFile(
      'git',
      whole,
      { cwd, env: environment(), timeout: MAX_MS, maxBuffer: MAX_OUTPUT_BYTES, encoding: 'utf8' },
      (error, stdout, stderr) => {
        if (error === null) return resolve({ code: 0, stdout, stderr })
        if (typeof error.code === 'number') return resolve({ code: error.code, stdout, stderr })
        if (codeOf(error) === 'ENOENT') return reject(missing(cwd))
        if (error.killed === true)
          return reject(
            new RefusedError(
              refusal(
                'not_available',
                `git did not end within ${MAX_MS / 1_000} s in ${cwd}.`,
                'Try again later.',
              ),
            ),
          )
        reject(error)
      },
    )
  })
}

/** As `git`, and throws a refusal with what git said if it fails. */
export async function gitOrRefuse(cwd: string, args: readonly string[], doing: string): Promise<string> {
  const { code, stdout, stderr } = await git(cwd, args)
  if (code === 0) return stdout
  throw new RefusedError(
    refusal(
      'conflict',
      `git could not ${doing} in ${cwd}: ${lastLine(stderr)}`,
      'See what git says, and ask again.',
    ),
  )
}

/** Whether a folder is the root of a checkout. */
export async function isCheckout(folder: string): Promise<boolean> {
  if (!(await isFolder(folder))) return false
  const { code, stdout } = await git(folder, ['rev-parse', '--show-toplevel'])
  return code === 0 && stdout.trim() === (await realpath(folder))
}

export async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() === true
}

/** Paths, as git prints them with `-z`. */
export function pathsOf(stdout: string): readonly string[] {
  return stdout.split('\0').filter((path) => path !== '')
}

function lastLine(text: string): string {
  const lines = text.trim().split('\n')
  return lines.slice(-3).join(' ').slice(0, 1_000)
}

/** A daemon that git started, as in a hook, must not take that repository for the one of the agent. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))
  return { ...Object.fromEntries(kept), LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_EDITOR: 'true' }
}

/** The folder may be the one that is missing. */
function missing(cwd: string): RefusedError {
  return new RefusedError(
    refusal(
      'not_available',
      `git was not found on this machine, or the folder ${cwd} is gone.`,
      'Install git 2.38 or newer, or ask without a worktree.',
    ),
  )
}
