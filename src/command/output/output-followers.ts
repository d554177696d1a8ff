import { Nudge } from '../../base/nudge.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import type { Waited, WaitOptions } from '../../kernel/wait.ts'
import type { OutputPiece } from '../../verbs/attachment.ts'
import { followOutput } from './follow.ts'
import { type Gap, joined, layoutOf } from './layout.ts'
import { type FoundLine, LineFinder } from './line-finder.ts'
import { type OutputAccess, outputEndIn, type View } from './output-access.ts'
import { scanTurns } from './scan-turns.ts'

/** How often followers check for growth without a nudge: a keeper that is being replaced sends none. */
const LOOK_MS = 250

export interface WantedLine {
  readonly text?: string
  readonly pattern?: string
  readonly from: number
}

interface LineWait {
  readonly waited: Waited<FoundLine | null>
  readonly truncated: Gap[]
  readonly scannedTo: number
}

/** What nudges the followers of a log: the keeper of a command, or this program for an agent. */
interface GrowthSource {
  follow(pid: Pid, grew: () => void): () => void
}

/** Follows output logs while they grow: nudged by their writer, ended by the kernel. */
export class OutputFollowers {
  readonly #access: OutputAccess
  readonly #growthOf: (record: ProcessRecord) => GrowthSource

  constructor(access: OutputAccess, growthOf: (record: ProcessRecord) => GrowthSource) {
    this.#access = access
    this.#growthOf = growthOf
  }

  async *follow(
    kernel: Kernel,
    record: ProcessRecord,
    offset: number,
    { signal, view }: { readonly signal?: AbortSignal; readonly view: View },
  ): AsyncGenerator<OutputPiece> {
    const folder = await this.#access.folderOf(record)
    const masking = await this.#access.masking(record, view)
    const nudge = new Nudge()
    const ended: { at: number | null } = { at: null }
    const stop = new AbortController()
    const unfollow = this.#growthOf(record).follow(record.pid, () => nudge.give())
    const whenEnded = kernel.waits.forEnd(record.pid, { signal: stop.signal }).then(
      async (waited) => {
        if (waited.type !== 'done') return
        ended.at = outputEndIn(waited.value.record) ?? (await layoutOf(folder))?.end ?? 0
        nudge.give()
      },
      // The kernel was closed: the next look finds nothing to wait for, and ends the stream.
      () => {
        ended.at = 0
        nudge.give()
      },
    )
    try {
      yield* followOutput(folder, {
        from: offset,
        signal: signal ?? stop.signal,
        wake: () => nudge.within(LOOK_MS),
        ended: () => ended.at,
        masking,
      })
    } finally {
      unfollow()
      stop.abort()
      await whenEnded
    }
  }

  async waitForLine(
    kernel: Kernel,
    record: ProcessRecord,
    { from, ...wanted }: WantedLine,
    { timeoutMs, signal }: WaitOptions,
  ): Promise<LineWait> {
    // First, because an unreadable pattern is refused, and nothing is to be left running then.
    const finder = new LineFinder(wanted)
    const enough = new AbortController()
    let isTimedOut = false
    const cancel =
      timeoutMs === undefined
        ? () => {}
        : kernel.edges.clock.after(timeoutMs, () => {
            isTimedOut = true
            enough.abort()
          })
    const either = signal === undefined ? enough.signal : AbortSignal.any([signal, enough.signal])
    const gaps: Gap[] = []
    const answer = (waited: LineWait['waited']): LineWait => ({
      waited,
      truncated: joined(gaps),
      scannedTo: finder.scannedTo ?? from,
    })
    const options = { signal: either, view: 'masked' } as const
    try {
      for await (const { offset, bytes, gap } of this.follow(kernel, record, from, options)) {
        if (gap !== null) gaps.push(gap)
        await scanTurns.next()
        const found = finder.add({ offset, bytes: Buffer.from(bytes), gap })
        if (found !== null) return answer({ type: 'done', value: found })
      }
      if (isTimedOut) return answer({ type: 'timed_out' })
      if (signal?.aborted) return answer({ type: 'interrupted' })
      return answer({ type: 'done', value: null })
    } finally {
      cancel()
    }
  }
}
