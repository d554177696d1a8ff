import type { ProcessRecord } from '../process/record.ts'
import { builtInName } from '../tool/built-in-name.ts'

/** The tool whose calls wait for a person all the time. */
const ASKS = 'ask_human'

interface Interval {
  readonly from: number
  readonly to: number
}

/** How long a script has waited for people: the time of its calls, and of what these started, without a start but with an approval. */
export function humanMs(below: readonly ProcessRecord[], now: number): number {
  const intervals = below.flatMap((record) => waitOf(record, now)).sort((a, b) => a.from - b.from)
  let total = 0
  let end = Number.NEGATIVE_INFINITY
  for (const { from, to } of intervals) {
    total += Math.max(0, to - Math.max(from, end))
    end = Math.max(end, to)
  }
  return total
}

function waitOf(
  { gate, spec, createdAt: from, firstStarted, outcome }: ProcessRecord,
  now: number,
): readonly Interval[] {
  const ended = outcome?.endedAt ?? now
  if (builtInName(spec['tool']) === ASKS) return [{ from, to: ended }]
  return gate === null ? [] : [{ from, to: firstStarted?.at ?? ended }]
}
