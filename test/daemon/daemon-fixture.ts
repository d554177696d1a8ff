import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { inject } from 'vitest'
import { ReeveError } from '../../src/core/errors.ts'
import { detach } from '../../src/daemon/detach.ts'
import type { TempReeve } from '../temp-reeve.ts'

export const REEVE_UP = join(inject('builtReeve'), 'dist/fixtures/reeve-up.js')

export const startInBackground = (
  temp: TempReeve,
  args: readonly string[] = ['--listen', '127.0.0.1:0'],
): ReturnType<typeof detach> =>
  detach({ home: temp.home.folder, env: { ...process.env, ...temp.env }, args, program: REEVE_UP })

/** A request that starts a command. */
export const run = (line: string, lifetime = 'detached') => ({
  body: { kind: 'command', spec: { run: line }, lifetime },
})

/** The error of a call that must be refused. */
export async function refusal(asked: Promise<unknown>): Promise<ReeveError> {
  try {
    await asked
  } catch (error) {
    if (error instanceof ReeveError) return error
    throw error
  }
  throw new Error('It was accepted.')
}

/** Whether this machine can run a program. */
export function canRun(program: string, ...args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
