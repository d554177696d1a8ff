import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { now } from '../clock.ts'
import { realText } from './real-text.ts'

/** The content of one turn of a session without tools: excerpts of real prose. */
const INPUT_BYTES = 500
const ANSWER_BYTES = 2_000

const ROOT = fileURLToPath(import.meta.resolve('../../'))

export interface Played {
  /** From the start of the program until a session that was there before could take its next input. */
  readonly readyMs: number
  /** Of each turn. */
  readonly turnMs: readonly number[]
}

/**
 * Runs a program that takes the session in `folder` to a turn; with `killAt` it gets SIGKILL in the turn after that one. Its arguments: the
 * folder, which has a file `prose.txt` to take texts from, the turn, the bytes of an answer and of an input.
 */
export async function play(
  program: string,
  folder: string,
  { last, killAt }: { readonly last: number; readonly killAt?: number },
): Promise<Played> {
  writeFileSync(join(folder, 'prose.txt'), realText(ROOT).prose)
  const begun = now()
  const args = [program, folder, String(last), String(ANSWER_BYTES), String(INPUT_BYTES)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const turnMs: number[] = []
  let readyMs = Number.NaN
  for await (const line of createInterface(child.stdout)) {
    const said = JSON.parse(line) as { turn?: number; ms?: number }
    if (said.ms === undefined) readyMs = now() - begun
    else turnMs.push(said.ms)
    if (killAt !== undefined && said.turn === killAt) child.kill('SIGKILL')
  }
  const [code] = await exited
  if (code !== 0 && killAt === undefined) throw new Error(`${program} ended with ${code}.`)
  return { readyMs, turnMs }
}

/** Runs `coding-turns.ts`. */
export async function playCoding(program: string, folder: string, turns: number): Promise<void> {
  const args = [program, folder, String(turns), ROOT]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${program} ended with ${code}.`)
}

/** The bytes of all databases in a folder, with their logs. */
export function storedBytes(folder: string): number {
  const files = readdirSync(folder).filter((name) => /\.db(-wal)?$/.test(name))
  return files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}
