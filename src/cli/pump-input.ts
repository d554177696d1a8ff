import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { ReeveError } from '../core/errors.ts'
import type { ReeveVerbs } from '../verbs/reeve.ts'

const MAX_BYTES = 256 * 1024
const FIRST_MS = 5
const MAX_MS = 100

/**
 * What comes in goes to a command's input, byte for byte, and ends when it ends. A command that does not read holds it up;
 * one that has closed its input, or ended, wants no more. `sole`: nobody else writes there, so writes can be numbered, which
 * makes them safe to repeat, and the command's input ends with ours.
 */
export async function pumpInput(
  reeve: ReeveVerbs,
  pid: string,
  input: Readable,
  { sole, signal }: { readonly sole: boolean; readonly signal?: AbortSignal },
): Promise<void> {
  let seq = 0
  try {
    for await (const chunk of input) {
      const bytes = chunk as Buffer
      for (let at = 0; at < bytes.length; at += MAX_BYTES)
        await writeWhenRead(
          reeve,
          pid,
          bytes.subarray(at, at + MAX_BYTES),
          sole ? { seq: ++seq } : {},
          signal,
        )
    }
    if (sole) await reeve.closeInput({ pid })
  } catch (error) {
    if (signal?.aborted) return
    const isOver = error instanceof ReeveError && ['input_closed', 'already_ended'].includes(error.code)
    if (!isOver) throw error
  }
}

async function writeWhenRead(
  reeve: ReeveVerbs,
  pid: string,
  text: Buffer,
  numbered: { readonly seq?: number },
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let delay = FIRST_MS; ; delay = Math.min(delay * 2, MAX_MS)) {
    try {
      await reeve.write({ pid, text, ...numbered }, signal === undefined ? {} : { signal })
      return
    } catch (error) {
      if (!(error instanceof ReeveError) || error.code !== 'input_full') throw error
      await sleep(delay, undefined, signal === undefined ? {} : { signal })
    }
  }
}
