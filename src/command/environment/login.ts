import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { userInfo } from 'node:os'
import { killGroupOf } from '../../os/signal.ts'

const PATIENCE_MS = 10_000
const MAX_CHARS = 4 * 1024 * 1024
/** Variables of the capturing shell itself, which are not part of the user's environment. */
const ITS_OWN = ['_', 'SHLVL', 'PWD', 'OLDPWD', 'PS1', 'PS2']

/** The login shells of system users, which run nothing. */
const NO_SHELL = /\/(nologin|false|true)$/

/** The user's login shell, or `/bin/sh`. */
export function userShell(): string {
  const { shell } = userInfo()
  return [process.env['SHELL'], shell].find((path) => path && !NO_SHELL.test(path)) ?? '/bin/sh'
}

/**
 * The environment that an interactive login shell has, so that `PATH` is what the user knows. What start-up files print
 * goes before a mark and is thrown away. Rejects if the shell does not answer.
 *
 * The shell has a session of its own: an interactive one would make itself the foreground of our terminal, and then we
 * would be stopped at the next key.
 */
export function loginEnvironment(shell: string, patienceMs = PATIENCE_MS): Promise<Record<string, string>> {
  const halves = [randomBytes(8).toString('hex'), randomBytes(8).toString('hex')]
  const mark = halves.join('')
  // In halves, so that the whole is printed once alone: some shells have the last word of a command in a variable, `_`.
  const script = `printf %s%s ${halves.join(' ')}; exec /usr/bin/env -0`
  return new Promise((resolve, reject) => {
    const child = spawn(shell, ['-l', '-i', '-c', script], {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
      cwd: '/',
    })
    let stdout = ''
    const enough = () => {
      killGroupOf(child)
      child.stdout.destroy()
    }
    const timer = setTimeout(enough, patienceMs)
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      if (stdout.length > MAX_CHARS) enough()
    })
    child.on('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    child.on('close', () => {
      clearTimeout(timer)
      const at = stdout.lastIndexOf(mark)
      // Some start-up files fail at the end; the text behind the mark is complete if it ends in a NUL.
      if (at === -1 || !stdout.endsWith('\0')) reject(new Error(`${shell} did not print its environment`))
      else resolve(parsed(stdout.slice(at + mark.length)))
    })
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
