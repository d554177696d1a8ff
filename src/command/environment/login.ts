import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { userInfo } from 'node:os'

const PATIENCE_MS = 10_000
const MOST_BYTES = 4 * 1024 * 1024
/** The capturing shell's own, and no part of what a user knows as the environment. */
const ITS_OWN = ['_', 'SHLVL', 'PWD', 'OLDPWD', 'PS1', 'PS2']

/** The user's shell: the one they log in with, else what every system has. */
export function userShell(): string {
  const { shell } = userInfo()
  return process.env['SHELL'] || shell || '/bin/sh'
}

/**
 * The environment that an interactive login shell has, so that `PATH` is what the user knows. What start-up files print
 * goes before a mark and is thrown away. Rejects if the shell does not answer.
 */
export function loginEnvironment(shell: string): Promise<Record<string, string>> {
  const mark = randomBytes(16).toString('hex')
  const script = `printf %s ${mark}; exec /usr/bin/env -0`
  return new Promise((resolve, reject) => {
    const child = execFile(
      shell,
      ['-l', '-i', '-c', script],
      { timeout: PATIENCE_MS, killSignal: 'SIGKILL', maxBuffer: MOST_BYTES, encoding: 'utf8', cwd: '/' },
      (error, stdout) => {
        const at = stdout.lastIndexOf(mark)
        // Some start-up files end with a failure; what came behind the mark is whole if it ends in a NUL.
        if (at === -1 || !stdout.endsWith('\0')) {
          reject(error ?? new Error(`${shell} did not print its environment`))
          return
        }
        resolve(parsed(stdout.slice(at + mark.length)))
      },
    )
    child.stdin?.end()
  })
}

function parsed(text: string): Record<string, string> {
  const pairs = text
    .split('\0')
    .map((pair): [string, string] => {
      const equals = pair.indexOf('=')
      return [pair.slice(0, equals), pair.slice(equals + 1)]
    })
    .filter(([name]) => name !== '' && !ITS_OWN.includes(name))
  return Object.fromEntries(pairs)
}
