import type { Answer, Ask, Tell } from './messages.ts'

/** A longer line shows that the peer is broken. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024

/**
 * Cuts a stream of bytes into lines and passes each to `heard`, parsed. Throws on a line that is not JSON. A line that is too long
 * is skipped, and its beginning passed to `tooLong`; without `tooLong` it throws.
 */
export function lineReader(
  heard: (message: unknown) => void,
  tooLong?: (start: string) => void,
): (chunk: Buffer) => void {
  let kept: Buffer[] = []
  let keptBytes = 0
  let isPassedOver = false
  const forget = () => {
    kept = []
    keptBytes = 0
  }
  return (chunk) => {
    let from = 0
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      const line = chunk.subarray(from, at)
      from = at + 1
      const whole = kept.length === 0 ? line : Buffer.concat([...kept, line])
      const isWhole = !isPassedOver
      isPassedOver = false
      forget()
      if (isWhole) heard(JSON.parse(whole.toString('utf8')))
    }
    if (from === chunk.length || isPassedOver) return
    kept.push(from === 0 ? chunk : chunk.subarray(from))
    keptBytes += chunk.length - from
    if (keptBytes <= MAX_LINE_BYTES) return
    if (tooLong === undefined) throw new Error(`A line of more than ${MAX_LINE_BYTES} bytes`)
    isPassedOver = true
    tooLong(kept[0]?.toString('latin1', 0, 100) ?? '')
    forget()
  }
}

export function lineOf(message: Ask | Answer | Tell): string {
  return `${JSON.stringify(message)}\n`
}
