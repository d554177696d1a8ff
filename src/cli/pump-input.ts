import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { ExponentialBackoff } from '../base/exponential-backoff.ts'
import { ReeveError } from '../core/errors.ts'
import type { ReeveVerbs } from '../verbs/reeve.ts'

const MAX_WRITE_BYTES = 256 * 1024
const MIN_RETRY_MS = 5
const MAX_RETRY_MS = 100

/**
 * Copies a stream to a command's input until either ends. While the command does not read, this waits. `sole`: there is no other
 * writer, so that writes can be numbered, which makes them safe to repeat, and the command's input ends with the stream.
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
      for (let at = 0; at < bytes.length; at += MAX_WRITE_BYTES)
        await writeWhenRead(
          reeve,
          pid,
          bytes.subarray(at, at + MAX_WRITE_BYTES),
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
  const backoff = new ExponentialBackoff(MIN_RETRY_MS, MAX_RETRY_MS)
  for (;;) {
    try {
      await reeve.write({ pid, text, ...numbered }, signal === undefined ? {} : { signal })
      return
    } catch (error) {
      if (!(error instanceof ReeveError) || error.code !== 'input_full') throw error
      await sleep(backoff.nextMs(), undefined, signal === undefined ? {} : { signal })
    }
  }
}
