import type { Writable } from 'node:stream'

/** Writes, and waits for a slow reader. A reader that is gone ends the wait; its error goes to the stream's own listeners. */
export async function writeAll(stream: Writable, bytes: Uint8Array | string): Promise<void> {
  if (bytes.length === 0 || stream.destroyed) return
  if (stream.write(bytes)) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const ends = ['drain', 'close', 'error'] as const
  for (const end of ends) stream.on(end, resolve)
  await promise
  for (const end of ends) stream.off(end, resolve)
}
