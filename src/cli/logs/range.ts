import type { Acting } from '../../verbs/reeve.ts'

/** How much of the log is asked about at once. */
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

/** What is asked for of what the log has now. */
export async function rangeOf(reeve: Acting, pid: string, options: RangeOptions): Promise<Range> {
  const { end } = await reeve.output({ pid, limit: 1 })
  const last = options.until === undefined ? end : await endAt(reeve, pid, { at: options.until, end })
  return { from: await startOf(reeve, pid, options, end), end: last }
}

async function startOf(
  reeve: Acting,
  pid: string,
  { tail, since, from }: RangeOptions,
  end: number,
): Promise<number> {
  if (from !== undefined) return from
  if (since !== undefined)
    return since > Date.now() ? end : (await reeve.output({ pid, since, limit: 1 })).offset
  if (tail === undefined) return 0
  if (tail === 0) return end
  // One page has 10,000 lines at most: the first of the wanted ones is all that is needed.
  const { lines } = await reeve.log({ pid, from: 'end', offset: tail - 1, limit: 1 })
  return lines[0]?.offset ?? 0
}

/** Where the bytes begin that were printed after this time, as near as the log tells. */
async function endAt(
  reeve: Acting,
  pid: string,
  { at, end }: { readonly at: number; readonly end: number },
): Promise<number> {
  let { offset } = await reeve.output({ pid, since: at + 1, limit: 1 })
  while (offset < end) {
    const to = Math.min(end, offset + AHEAD_BYTES)
    const { times = [] } = await reeve.streams({ pid, from: offset, to, times: true })
    const later = times.find((part) => part.at > at)
    if (later !== undefined) return later.offset
    offset = to
  }
  return end
}
