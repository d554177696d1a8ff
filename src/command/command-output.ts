import { join } from 'node:path'
import { RefusedError } from '../core/errors.ts'
import { outputStart, type Reader, sessionOutputPosition } from '../core/inbox/readers.ts'
import { hasEnded, type ProcessRecord } from '../core/process/record.ts'
import { refusal } from '../core/refusal.ts'
import type { Home } from '../keeper/protocol/home.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Waited, WaitOptions } from '../kernel/wait.ts'
import type { OutputPiece } from '../verbs/reeve.ts'
import type { CommandSecrets } from './command-secrets.ts'
import { commandSpecOf } from './command-spec.ts'
import type { KeeperSide } from './keeper-side.ts'
import { CleanRanges } from './output/clean-ranges.ts'
import { Cursors } from './output/cursors.ts'
import { followOutput } from './output/follow.ts'
import { type Gap, joined, layoutOf, logEnd, segmentOffsets } from './output/layout.ts'
import { type FoundLine, LineFinder } from './output/line-finder.ts'
import { type Line, type LinesOptions, readLines } from './output/lines.ts'
import { HeldBack, HOLD_MS, type Masking } from './output/masking.ts'
import { Nudge } from './output/nudge.ts'
import { readSince } from './output/poll.ts'
import { readRange } from './output/read.ts'
import { scanTurns } from './output/scan-turns.ts'
import { type SearchOptions, searchLines } from './output/search.ts'
import { NEWLINE } from './output/split-lines.ts'
import { streamsBetween } from './output/streams.ts'
import { cutText, type Showing } from './output/text.ts'
import { offsetAt, timeOf, timesBetween } from './output/times.ts'
import type { Screens } from './screen/screen.ts'

/** What looks for growth that nobody told of: a keeper that is being replaced tells nothing. */
const LOOK_MS = 250
/** So many bytes are read for each character that is shown: colours and the like take room, too. */
const TAIL_BYTES_PER_CHAR = 8
const TERMINAL = { cols: 120, rows: 30 }

/** `masked`: secrets are not shown. `raw`: they are, to whoever may see them. */
export type View = 'masked' | 'raw'

/** The output logs of all commands, as the verbs show them. */
export class CommandOutput {
  readonly #home: Home
  readonly #keeperOf: (record: ProcessRecord) => KeeperSide
  readonly cursors: Cursors
  readonly #secrets: CommandSecrets
  readonly #kernel: () => Kernel
  readonly #lookedThrough = new CleanRanges()
  readonly #held = new HeldBack(() => this.#kernel().edges.clock.now())
  #screens: Promise<Screens> | undefined

  constructor(parts: {
    readonly home: Home
    readonly keeperOf: (record: ProcessRecord) => KeeperSide
    readonly secrets: CommandSecrets
    readonly kernel: () => Kernel
  }) {
    const { home } = parts
    this.#home = home
    this.#keeperOf = parts.keeperOf
    this.cursors = new Cursors(home.cursors)
    this.#secrets = parts.secrets
    this.#kernel = parts.kernel
  }

  /** Since the cursor that is given, or the position that this actor, or its reader, has reached. */
  async poll(
    record: ProcessRecord,
    asked: Position & {
      readonly cursor: string | null
      /** The reader's next poll goes on where this one ends. */
      readonly keepsPosition: boolean
      readonly maxChars: number
      readonly ansi: Showing
    },
    view: View,
  ) {
    const folder = await this.#folderOf(record)
    const from = asked.cursor === null ? await this.#positionOf(record, asked) : Number(asked.cursor.slice(1))
    const { maxChars, ansi } = asked
    const masking = await this.#masking(record, view)
    const since = await readSince(folder, from, { maxChars, ansi, ended: hasEnded(record), masking })
    if (asked.cursor === null && asked.keepsPosition) await this.#moveTo(record, asked, since.next)
    const { text, more, truncated } = since
    return { text, cursor: `o${since.next}`, more, truncated: [...truncated] }
  }

  async #positionOf({ pid, createdAt }: ProcessRecord, { actor, reader }: Position): Promise<number> {
    const own = reader === null ? null : await this.cursors.getReader(pid, actor, reader.id)
    return outputStart({ own, session: await this.cursors.get(pid, actor), reader, createdAt })
  }

  async #moveTo({ pid }: ProcessRecord, { actor, reader }: Position, offset: number): Promise<void> {
    if (reader !== null) await this.cursors.setReader(pid, actor, reader.id, offset)
    const session = await this.cursors.get(pid, actor)
    const moved = sessionOutputPosition(session, offset, reader)
    if (moved !== session) await this.cursors.set(pid, actor, moved)
  }

  async lines(record: ProcessRecord, options: Omit<LinesOptions, 'ended' | 'masking'>, view: View) {
    const folder = await this.#folderOf(record)
    const masking = await this.#settled(folder, await this.#masking(record, view))
    const page = await readLines(folder, { ...options, ended: hasEnded(record), masking })
    return { ...page, lines: page.lines.map(lateFrom(record)), truncated: [...page.truncated] }
  }

  async search(record: ProcessRecord, options: Omit<SearchOptions, 'ended' | 'masking'>, view: View) {
    const folder = await this.#folderOf(record)
    const masking = await this.#settled(folder, await this.#masking(record, view))
    const found = await searchLines(folder, { ...options, ended: hasEnded(record), masking })
    const late = lateFrom(record)
    const matches = found.matches.map(({ before, after, ...line }) => ({
      ...late(line),
      before: before.map(late),
      after: after.map(late),
    }))
    return { ...found, matches, truncated: [...found.truncated] }
  }

  async screen(record: ProcessRecord, scrollback: number, view: View) {
    const { pty } = commandSpecOf(record)
    if (!pty) {
      throw new RefusedError(
        refusal(
          'no_terminal',
          `${record.pid} has no terminal to look at.`,
          'Read its log, or start it with pty: true.',
        ),
      )
    }
    const size = { ...TERMINAL, ...(pty === true ? {} : pty) }
    const folder = await this.#folderOf(record)
    // The terminal is loaded when the first screen is asked for: whoever starts up need not wait for it.
    this.#screens ??= import('./screen/screen.ts').then(({ Screens }) => new Screens())
    const screens = await this.#screens
    const masker = (await this.#masking(record, view))?.masker ?? null
    const isLive = !hasEnded(record)
    const shown = await screens.show(record.pid, folder, { ...size, scrollback, masker, isLive })
    return { ...shown, lines: [...shown.lines], scrollback: [...shown.scrollback] }
  }

  async bytes(record: ProcessRecord, offset: number, limit: number, view: View) {
    const folder = await this.#folderOf(record)
    const chunk = await readRange(folder, offset, limit, await this.#masking(record, view))
    return { ...chunk, at: chunk.bytes.length === 0 ? null : await timeOf(folder, chunk.offset) }
  }

  async streams(record: ProcessRecord, from: number, to: number) {
    return streamsBetween(await this.#folderOf(record), from, to)
  }

  async times(record: ProcessRecord, from: number, to: number) {
    return timesBetween(await this.#folderOf(record), from, to)
  }

  async offsetAt(record: ProcessRecord, time: number): Promise<number> {
    return offsetAt(await this.#folderOf(record), time)
  }

  async length(record: ProcessRecord): Promise<number> {
    return (await logEnd(join(this.#home.output, record.pid))) ?? 0
  }

  /** The last characters of it, without escape sequences. What came late, after the end, is not its own. */
  async tail(record: ProcessRecord, chars: number): Promise<string> {
    const folder = await this.#folderOf(record)
    const end = endOf(record) ?? (await logEnd(folder)) ?? 0
    const from = Math.max(0, end - TAIL_BYTES_PER_CHAR * chars)
    const masking = await this.#settled(folder, await this.#masking(record, 'masked'))
    const { offset, bytes } = await readRange(folder, from, end - from, masking)
    const kept = bytes.subarray(0, Math.max(0, end - offset))
    // Begun in the middle, the first line may begin in the middle of a character or an escape sequence.
    const first = from === 0 ? 0 : kept.indexOf(NEWLINE) + 1
    const { text } = cutText(kept.subarray(first), {
      ...{ maxChars: Number.POSITIVE_INFINITY, ansi: 'strip', final: true },
    })
    return text.slice(-chars).toWellFormed()
  }

  /** From an offset on, then as it comes, until the process has ended. */
  async *follow(
    kernel: Kernel,
    record: ProcessRecord,
    offset: number,
    { signal, view = 'masked' }: { readonly signal?: AbortSignal; readonly view?: View } = {},
  ): AsyncGenerator<OutputPiece> {
    const folder = await this.#folderOf(record)
    const masking = await this.#masking(record, view)
    const nudge = new Nudge()
    const ended: { at: number | null } = { at: null }
    const stop = new AbortController()
    const unfollow = this.#keeperOf(record).follow(record.pid, () => nudge.give())
    const whenEnded = kernel.waitForEnd(record.pid, { signal: stop.signal }).then(
      async (waited) => {
        if (waited.type !== 'done') return
        ended.at = endOf(waited.value.record) ?? (await layoutOf(folder))?.end ?? 0
        nudge.give()
      },
      // The kernel was closed: whoever follows is told by the next look, which has nothing to wait for.
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

  /** Until a line fits, printed from an offset on, before or after; null when the process ends without one. */
  async waitForLine(
    kernel: Kernel,
    record: ProcessRecord,
    { from, ...wanted }: { readonly text?: string; readonly pattern?: string; readonly from: number },
    { timeoutMs, signal }: WaitOptions,
  ): Promise<{
    readonly waited: Waited<FoundLine | null>
    readonly truncated: Gap[]
    readonly scannedTo: number
  }> {
    // Before anything is begun that would go on: a pattern that can't be read is refused.
    const finder = new LineFinder(wanted)
    const enough = new AbortController()
    const over = { timedOut: false }
    const cancel =
      timeoutMs === undefined
        ? () => {}
        : kernel.edges.clock.after(timeoutMs, () => {
            over.timedOut = true
            enough.abort()
          })
    const both = signal === undefined ? enough.signal : AbortSignal.any([signal, enough.signal])
    const gaps: Gap[] = []
    const answer = (waited: Waited<FoundLine | null>) => ({
      ...{ waited, truncated: joined(gaps), scannedTo: finder.scannedTo ?? from },
    })
    try {
      for await (const { offset, bytes, gap } of this.follow(kernel, record, from, { signal: both })) {
        if (gap !== null) gaps.push(gap)
        await scanTurns.next()
        const found = finder.add({ offset, bytes: Buffer.from(bytes), gap })
        if (found !== null) return answer({ type: 'done', value: found })
      }
      if (over.timedOut) return answer({ type: 'timed_out' })
      if (signal?.aborted) return answer({ type: 'interrupted' })
      return answer({ type: 'done', value: null })
    } finally {
      cancel()
    }
  }

  /** It is not needed any more: screens and cursors go with it. */
  async forget(pid: ProcessRecord['pid']): Promise<void> {
    ;(await this.#screens)?.forget(pid)
    await this.cursors.forget(pid)
  }

  /** For whoever looks at its output in the name of others: they are told of nothing that they could not see. */
  maskingOf(record: ProcessRecord): Promise<Masking | null> {
    return this.#masking(record, 'masked')
  }

  async #masking(record: ProcessRecord, view: View): Promise<Masking | null> {
    const masker = view === 'raw' ? null : await this.#secrets.maskerFor(record, this.#kernel())
    if (masker === null) return null
    const tagged = record.spec['output'] === 'tagged'
    // A program that writes its log itself may write it anew.
    const kept = record.spec['output'] === 'direct' ? {} : { lookedThrough: this.#lookedThrough }
    return { masker, tagged, final: hasEnded(record), mayShow: this.#held.mayShow, ...kept }
  }

  /** Whole lines are asked for, with the last one: what is held back of that is waited for. */
  async #settled(folder: string, masking: Masking | null): Promise<Masking | null> {
    if (masking === null || masking.final) return masking
    const end = (await logEnd(folder)) ?? 0
    const last = await readRange(folder, Math.max(0, end - 1), 1, masking)
    if (last.next < end) await new Promise((resolve) => setTimeout(resolve, HOLD_MS))
    return { ...masking, mayShow: () => true }
  }

  async #folderOf(record: ProcessRecord): Promise<string> {
    const folder = join(this.#home.output, record.pid)
    // What was never begun has printed nothing.
    if (record.program === null) return folder
    // A listing is enough: to look at every segment would cost more than to read a page of one.
    if ((await segmentOffsets(folder)) !== null) return folder
    throw new RefusedError(
      refusal(
        'no_output',
        `The output of ${record.pid} is not in this data folder: it was dropped to save space, or the command ran with another folder.`,
        'Keep more (commands.output.totalBytes), or ask the program that has the folder it ran with.',
      ),
    )
  }
}

interface Position {
  readonly actor: string
  readonly reader: Reader | null
}

/** Where the output ended, where somebody saw it; what comes later is late, and no follower waits for it. */
function endOf({ outcome }: ProcessRecord): number | undefined {
  const result = outcome?.result as { outputBytes?: number } | null | undefined
  return result?.outputBytes
}

function lateFrom(record: ProcessRecord): (line: Line) => Line & { readonly late?: true } {
  const end = endOf(record) ?? Number.POSITIVE_INFINITY
  return (line) => (line.offset >= end ? { ...line, late: true } : line)
}
