import type { ProcessRecord } from '../../core/process/record.ts'
import { startSpecOf } from '../../core/process/spec.ts'
import { partsOf } from '../../redaction/known-values.ts'
import { secretsIn } from '../../redaction/secret-name.ts'
import { commandSpecOf } from '../command-spec.ts'
import { folderOf } from '../output/pid-folder.ts'
import { readRange } from '../output/read.ts'
import type { PassedSecrets } from './passed-secrets.ts'

type Variables = Readonly<Record<string, string>>

/** The secrets in the environment that a caller gave its command: by their names, and by those in `passEnv`. */
export function secretsOfCaller(spec: ProcessRecord['spec'], env: Variables): string[] {
  const { passEnv = [] } = commandSpecOf({ spec })
  return [...secretsIn(env), ...passEnv.flatMap((name) => env[name] ?? [])]
}

/**
 * Keeps the secrets of its caller that a command has printed, in the private file of its passed values: the log has them
 * as well, and they stay masked for as long as it is kept. The others are not written anywhere.
 */
export async function keepPrinted(
  record: ProcessRecord,
  env: Variables,
  { passed, output }: { readonly passed: PassedSecrets; readonly output: string },
): Promise<void> {
  const printed = await printedValues(folderOf(output, record.pid), secretsOfCaller(startSpecOf(record), env))
  if (printed.size === 0) return
  await passed.add(record, Object.fromEntries(Object.entries(env).filter(([, value]) => printed.has(value))))
}

/** Small enough that one scan does not block the event loop for long. */
const PIECE_BYTES = 256 * 1024
const MIN_NEEDLE_BYTES = 6

/**
 * Which of these values an output log contains. The other stream, or colours, may split a value: one half of it is enough.
 */
async function printedValues(folder: string, values: Iterable<string>): Promise<ReadonlySet<string>> {
  const wanted = new Map([...new Set(values)].map((value) => [value, needlesOf(value)]))
  const overlap = Math.max(0, ...[...wanted.values()].flat().map(({ length }) => length - 1))
  const printed = new Set<string>()
  let before = Buffer.alloc(0)
  let at = 0
  while (wanted.size > 0) {
    // Unmasked: the secrets themselves are looked for.
    const { bytes, next, gap } = await readRange(folder, at, PIECE_BYTES)
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
