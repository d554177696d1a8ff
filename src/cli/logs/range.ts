import type { ReeveVerbs } from '../../verbs/reeve.ts'

/** How much of the log one request asks about. */
const AHEAD_BYTES = 1024 * 1024

export interface RangeOptions {
  /** How many of the last lines. */
  readonly tail: number | undefined
  readonly from: number | undefined
  /** Milliseconds since 1970. */
  readonly since: number | undefined
  readonly until: number | undefined
}

/** Bytes of an output log: from one offset up to another. */
export interface Range {
  readonly from: number
  readonly end: number
}

/** The range that the options select in the log as it is now. Of several bounds the narrowest counts. */
export async function rangeOf(reeve: ReeveVerbs, pid: string, options: RangeOptions): Promise<Range> {
  const { tail, from = 0, since, until } = options
  const { end: printed } = await reeve.output({ pid, limit: 1 })
  const end = until === undefined ? printed : await endAt(reeve, pid, { at: until, end: printed })
  const sinceThen = since === undefined ? 0 : await startAt(reeve, pid, { at: since, end: printed })
  const ofTail = tail === undefined ? 0 : await tailStart(reeve, pid, { tail, end })
  return { from: Math.max(from, sinceThen, ofTail), end }
}

async function startAt(
  reeve: ReeveVerbs,
  pid: string,
  { at, end }: { readonly at: number; readonly end: number },
): Promise<number> {
  return at > Date.now() ? end : (await reeve.output({ pid, since: at, limit: 1 })).offset
}

/** The offset where the last lines before `end` begin. */
async function tailStart(
  reeve: ReeveVerbs,
  pid: string,
  { tail, end }: { readonly tail: number; readonly end: number },
): Promise<number> {
  if (tail === 0) return end
  const first = Math.max(0, (await countLines(reeve, pid, end)) - tail)
  return (await lineAt(reeve, pid, first))?.offset ?? 0
}

/** How many lines begin before `end`, by binary search unless all of them do. */
async function countLines(reeve: ReeveVerbs, pid: string, end: number): Promise<number> {
  const { lines, total } = await reeve.log({ pid, from: 'end', limit: 1 })
  if ((lines[0]?.offset ?? 0) < end) return total
  let low = 0
  let high = total
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const line = await lineAt(reeve, pid, middle)
    if (line !== undefined && line.offset < end) low = middle + 1
    else high = middle
  }
  return low
}

async function lineAt(reeve: ReeveVerbs, pid: string, number: number) {
  const { lines } = await reeve.log({ pid, from: 'start', offset: number, limit: 1 })
  return lines[0]
}

/** The offset of the first byte that was printed after this time, as precisely as the log knows. */
async function endAt(
  reeve: ReeveVerbs,
  pid: string,
  { at, end }: { readonly at: number; readonly end: number },
): Promise<number> {
  let { offset } = await reeve.output({ pid, since: at + 1, limit: 1 })
  while (offset < end) {
    const to = Math.min(end, offset + AHEAD_BYTES)
    const { times = [] } = await reeve.outputStreams({ pid, from: offset, to, times: true })
    const later = times.find((part) => part.at > at)
    if (later !== undefined) return later.offset
    offset = to
  }
  return end
}
