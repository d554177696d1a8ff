import { once } from 'node:events'
import type { Writable } from 'node:stream'

/** Writes, and waits where the reader is slow. */
export async function writeAll(stream: Writable, bytes: Uint8Array | string): Promise<void> {
  if (bytes.length === 0 || stream.destroyed) return
  if (!stream.write(bytes)) await Promise.race([once(stream, 'drain'), once(stream, 'close')])
}
