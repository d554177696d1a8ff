import { type InputOf, type ProcessRecord, type Reeve, ReeveError } from 'reeve'
import { textOf } from './read-output.ts'

export { TempReeve } from '../temp-reeve.ts'
export { bytesOf, textOf } from './read-output.ts'

type Spec = Extract<InputOf<'spawn'>, { kind: 'command' }>['spec']
export type CommandRequest = Omit<Extract<InputOf<'spawn'>, { kind: 'command' }>, 'kind' | 'spec'>

/** Spawns a shell line, or a whole spec. */
export async function start(
  reeve: Pick<Reeve, 'spawn'>,
  what: string | Spec,
  request: CommandRequest = {},
): Promise<ProcessRecord> {
  const spec = typeof what === 'string' ? { run: what } : what
  return (await reeve.spawn({ kind: 'command', spec, ...request })).record
}

/** Waits for the end of a process; returns its record. */
export async function ended(reeve: Pick<Reeve, 'wait'>, pid: string): Promise<ProcessRecord> {
  const waited = await reeve.wait({ pid, timeoutMs: 30_000 })
  if (waited.type !== 'ended') throw new Error(`${pid} has not ended: ${waited.type}`)
  return waited.record
}

/** Runs a command to its end; returns its outcome and all output. */
export async function runs(reeve: Reeve, what: string | Spec, request: CommandRequest = {}) {
  const { pid } = await start(reeve, what, request)
  const { outcome } = await ended(reeve, pid)
  return { pid, outcome, text: await textOf(reeve, pid) }
}

/** Waits until a process has printed a text; fails if it ends before. */
export async function printed(reeve: Pick<Reeve, 'wait'>, pid: string, text: string): Promise<void> {
  const waited = await reeve.wait({ pid, until: { text }, timeoutMs: 30_000 })
  if (waited.type !== 'matched') throw new Error(`${pid} has not printed ${text}: ${waited.type}`)
}

/** The code of a refusal, or `accepted`. */
export async function codeOf(asked: Promise<unknown>): Promise<string> {
  try {
    await asked
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error
    if (error.message === '' || error.remedy === '') throw new Error(`${error.code} without words`)
    return error.code
  }
  return 'accepted'
}
