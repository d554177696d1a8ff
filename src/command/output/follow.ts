import { type Gap, layoutOf } from './layout.ts'
import type { Masking } from './masking.ts'
import type { Chunk } from './raw-range.ts'
import { readRange } from './read.ts'

export interface FollowOptions {
  readonly from: number
  readonly signal: AbortSignal
  /**
   * Resolves when the log may have grown or the process may have ended, and after a while in any case, because a nudge may be
   * lost. Called before the log is read, so that no nudge falls in between.
   */
  readonly wake: () => Promise<void>
  /** The length of the log when the process ended; null while it runs. */
  readonly ended: () => number | null
  /** How much is read at a time. */
  readonly readBytes?: number
  readonly masking?: Masking | null
}

export interface Followed {
  readonly offset: number
  readonly bytes: Buffer
  /** The bytes that are missing before these. */
  readonly gap: Gap | null
}

/**
 * Follows the output of a process from an offset on, until it has ended or `signal` aborts: every byte once, and each gap named.
 * The file is read when the consumer asks for more, so a slow consumer blocks no other.
 *
 * | there is          | while it runs    | when it has ended at `final`                           |
 * | something to read | yields it        | yields it, up to `final`; returns there                |
 * | nothing to read   | waits for a nudge | waits for the last bytes; then reports them as a gap    |
 */
export async function* followOutput(folder: string, options: FollowOptions): AsyncGenerator<Followed> {
  const { signal, wake, ended, readBytes = READ_BYTES, masking = null } = options
  let at = options.from
  let nudge: Promise<void> | null = null
  let waitsLeft = WAITS_AFTER_END
  let longest = 0
  while (!signal.aborted) {
    nudge ??= safe(wake())
    // Before the log is read, so that all output before the end is read.
    const final = ended()
    if (final !== null && at >= final) return
    const masked = masking === null ? null : { ...masking, final: final !== null }
    const chunk = await readRange(folder, at, readBytes, masked)
    if (chunk.bytes.length > 0 || chunk.gap !== null) {
      const part = upTo(chunk, final)
      at = part.offset + part.bytes.length
      longest = chunk.end
      yield part
      continue
    }
    if (final !== null && (waitsLeft-- === 0 || (await layoutOf(folder)) === null)) {
      yield { offset: final, bytes: chunk.bytes, gap: { from: at, to: final } }
      return
    }
    // A program that writes its log itself may have truncated it, and goes on from there.
    if (chunk.end < longest) at = Math.min(at, chunk.end)
    longest = chunk.end
    await nudgeOrAbort(nudge, signal)
    nudge = null
  }
}

const READ_BYTES = 64 * 1024

/** A keeper with a full disk may still hold the last bytes. A follower does not wait for the disk for ever. */
const WAITS_AFTER_END = 40

/** The chunk without the bytes behind the end, which descendants wrote late. */
function upTo({ offset, bytes, gap }: Chunk, final: number | null): Followed {
  if (final === null) return { offset, bytes, gap }
  const start = Math.min(offset, final)
  return {
    offset: start,
    bytes: bytes.subarray(0, final - start),
    gap: gap === null ? null : { from: gap.from, to: start },
  }
}

/** A nudge that rejects while the log is being read is handled when it is awaited: no unhandled rejection before. */
function safe(nudge: Promise<void>): Promise<void> {
  nudge.catch(() => undefined)
  return nudge
}

/** Removes its listener: the signal may live much longer than one wait. */
async function nudgeOrAbort(nudge: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<void>()
  const abort = () => aborted.resolve()
  signal.addEventListener('abort', abort)
  try {
    if (!signal.aborted) await Promise.race([nudge, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
