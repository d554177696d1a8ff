import { type Gap, layoutOf } from './layout.ts'
import type { Masking } from './masking.ts'
import { type Chunk, readRange } from './read.ts'

export interface FollowOptions {
  readonly from: number
  readonly signal: AbortSignal
  /**
   * Resolves when the log may have grown or the process may have ended, and now and then without a reason: a nudge may be
   * lost, and then that is how soon it is noticed. Asked for before the log is read, so that none falls between.
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
  /** What is missing before these bytes. */
  readonly gap: Gap | null
}

/**
 * The output of a process from an offset on, and then what it writes, until it has ended or `signal` says so: every byte
 * once, and each gap named. The file is read when the consumer asks for more, so a slow one holds up nobody.
 *
 * | there is          | while it runs    | when it has ended at `final`                           |
 * | something to read | yields it        | yields it, up to `final`; returns there                |
 * | nothing to read   | waits for a nudge | waits for what is still to be written; then it is a gap |
 */
export async function* followOutput(folder: string, options: FollowOptions): AsyncGenerator<Followed> {
  const { signal, wake, ended, readBytes = READ_BYTES, masking = null } = options
  let at = options.from
  let nudge: Promise<void> | null = null
  let waitsLeft = WAITS_AFTER_END
  let longest = 0
  while (!signal.aborted) {
    nudge ??= safe(wake())
    // Before the log is read: what was written before the end is then there to be read.
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
    // A program that writes its log itself may have truncated it, and writes on from there.
    if (chunk.end < longest) at = Math.min(at, chunk.end)
    longest = chunk.end
    await nudgeOrAbort(nudge, signal)
    nudge = null
  }
}

const READ_BYTES = 64 * 1024

/** A keeper whose disk is full may still hold the last bytes. Whoever follows does not wait for a disk for ever. */
const WAITS_AFTER_END = 40

/** The chunk without what was written after the end: that came late, from descendants. */
function upTo({ offset, bytes, gap }: Chunk, final: number | null): Followed {
  if (final === null) return { offset, bytes, gap }
  const start = Math.min(offset, final)
  return {
    offset: start,
    bytes: bytes.subarray(0, final - start),
    gap: gap === null ? null : { from: gap.from, to: start },
  }
}

/** One that fails while the log is being read is told of when it is waited for, and brings nobody down before. */
function safe(nudge: Promise<void>): Promise<void> {
  nudge.catch(() => undefined)
  return nudge
}

/** Leaves nothing behind at the signal, which may live much longer than one wait. */
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
