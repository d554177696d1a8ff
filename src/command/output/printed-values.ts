import { partsOf } from '../../redaction/known-values.ts'
import { rawRange } from './raw-range.ts'

/** Small enough that one scan does not block the event loop for long. */
const PIECE_BYTES = 256 * 1024
const MIN_NEEDLE_BYTES = 6

/**
 * Which of these values an output log contains. The other stream, or colours, may split a value: one half of it is enough.
 */
export async function printedValues(folder: string, values: Iterable<string>): Promise<ReadonlySet<string>> {
  const wanted = new Map([...new Set(values)].map((value) => [value, needlesOf(value)]))
  const overlap = Math.max(0, ...[...wanted.values()].flat().map(({ length }) => length - 1))
  const printed = new Set<string>()
  let before = Buffer.alloc(0)
  let at = 0
  while (wanted.size > 0) {
    const { bytes, next, gap } = await rawRange(folder, at, PIECE_BYTES)
    if (bytes.length === 0) break
    const piece = gap === null ? Buffer.concat([before, bytes]) : bytes
    for (const [value, needles] of wanted) {
      if (!needles.some((needle) => piece.includes(needle))) continue
      printed.add(value)
      wanted.delete(value)
    }
    before = Buffer.from(piece.subarray(Math.max(0, piece.length - overlap)))
    at = next
  }
  return printed
}

function needlesOf(value: string): Buffer[] {
  return partsOf(value).flatMap((part) => {
    const bytes = Buffer.from(part)
    const half = Math.max(MIN_NEEDLE_BYTES, Math.ceil(bytes.length / 2))
    return [bytes.subarray(0, half), bytes.subarray(-half)]
  })
}
