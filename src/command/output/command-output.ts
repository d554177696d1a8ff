import { join } from 'node:path'
import { RefusedError } from '../../core/errors.ts'
import { hasEnded, type ProcessRecord } from '../../core/process/record.ts'
import { refusal } from '../../core/refusal.ts'
import type { DataFolderPaths } from '../../keeper/protocol/data-folder-paths.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { commandSpecOf } from '../command-spec.ts'
import type { CommandSecrets } from '../environment/command-secrets.ts'
import type { KeeperSide } from '../keeper-side.ts'
import type { Screens } from '../screen/screen.ts'
import { Cursors } from './cursors.ts'
import { logEnd } from './layout.ts'
import { type Line, type LinesOptions, readLines } from './lines.ts'
import { LogFollowers } from './log-followers.ts'
import type { Masking } from './masking.ts'
import { OutputAccess, outputEndIn, type View } from './output-access.ts'
import { OutputFollowers } from './output-followers.ts'
import { readSince } from './poll.ts'
import { readRange } from './read.ts'
import { movePosition, type Poller, positionOf } from './read-positions.ts'
import { type SearchOptions, searchLines } from './search.ts'
import { NEWLINE } from './split-lines.ts'
import { streamsBetween } from './streams.ts'
import { cutText, type Showing } from './text.ts'
import { offsetAt, timeOf, timesBetween } from './times.ts'

/** Bytes that are read for each character that is shown: escape sequences take room, too. */
const TAIL_BYTES_PER_CHAR = 8
const TERMINAL = { cols: 120, rows: 30 }

/** The output logs of all commands and agents, as the verbs show them. */
export class CommandOutput {
  readonly followers: OutputFollowers
  /** Told by the writer of live logs. */
  readonly liveGrowth = new LogFollowers(null)
  readonly #home: DataFolderPaths
  readonly #cursors: Cursors
  readonly #access: OutputAccess
  #screens: Promise<Screens> | undefined

  constructor(parts: {
    readonly home: DataFolderPaths
    readonly keeperOf: (record: ProcessRecord) => KeeperSide
    readonly secrets: CommandSecrets
    readonly kernel: () => Kernel
  }) {
    const { home, secrets, kernel, keeperOf } = parts
    this.#home = home
    this.#cursors = new Cursors(home.cursors)
    this.#access = new OutputAccess(home, secrets, kernel)
    this.followers = new OutputFollowers(this.#access, (record) =>
      record.kind === 'agent' ? this.liveGrowth : keeperOf(record),
    )
  }

  /** The output since the cursor that is given, or since the position that this actor, or its reader, has reached. */
  async poll(
    record: ProcessRecord,
    asked: Poller & {
      readonly cursor: string | null
      /** The reader's next poll goes on where this one ends. */
      readonly keepsPosition: boolean
      readonly maxChars: number
      readonly ansi: Showing
    },
    view: View,
  ) {
    const folder = await this.#access.folderOf(record)
    const from =
      asked.cursor === null ? await positionOf(this.#cursors, record, asked) : Number(asked.cursor.slice(1))
    const { maxChars, ansi } = asked
    const masking = await this.#access.masking(record, view)
    const since = await readSince(folder, from, { maxChars, ansi, ended: hasEnded(record), masking })
    if (asked.cursor === null && asked.keepsPosition)
      await movePosition(this.#cursors, record, asked, since.next)
    const { text, more, truncated } = since
    return { text, cursor: `o${since.next}`, more, truncated: [...truncated] }
  }

  async lines(record: ProcessRecord, options: Omit<LinesOptions, 'ended' | 'masking'>, view: View) {
    const folder = await this.#access.folderOf(record)
    const masking = await this.#access.settledMasking(folder, record, view)
    const page = await readLines(folder, { ...options, ended: hasEnded(record), masking })
    return { ...page, lines: page.lines.map(lateFrom(record)), truncated: [...page.truncated] }
  }

  async search(record: ProcessRecord, options: Omit<SearchOptions, 'ended' | 'masking'>, view: View) {
    const folder = await this.#access.folderOf(record)
    const masking = await this.#access.settledMasking(folder, record, view)
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
        refusal('no_terminal', `${record.pid} has no terminal.`, 'Read its log, or start it with pty: true.'),
      )
    }
    const size = { ...TERMINAL, ...(pty === true ? {} : pty) }
    const folder = await this.#access.folderOf(record)
    // Loaded with the first screen, so that a start need not wait for it.
    this.#screens ??= import('../screen/screen.ts').then(({ Screens }) => new Screens())
    const screens = await this.#screens
    const masker = (await this.#access.masking(record, view))?.masker ?? null
    const isLive = !hasEnded(record)
    const shown = await screens.show(record.pid, folder, { ...size, scrollback, masker, isLive })
    return { ...shown, lines: [...shown.lines], scrollback: [...shown.scrollback] }
  }

  async bytes(record: ProcessRecord, offset: number, limit: number, view: View) {
    const folder = await this.#access.folderOf(record)
    const chunk = await readRange(folder, offset, limit, await this.#access.masking(record, view))
    return { ...chunk, at: chunk.bytes.length === 0 ? null : await timeOf(folder, chunk.offset) }
  }

  async streams(record: ProcessRecord, from: number, to: number) {
    return streamsBetween(await this.#access.folderOf(record), from, to)
  }

  async times(record: ProcessRecord, from: number, to: number) {
    return timesBetween(await this.#access.folderOf(record), from, to)
  }

  async offsetAt(record: ProcessRecord, time: number): Promise<number> {
    return offsetAt(await this.#access.folderOf(record), time)
  }

  async length(record: ProcessRecord): Promise<number> {
    return (await logEnd(join(this.#home.output, record.pid))) ?? 0
  }

  /** The last characters that the command printed before its end, without escape sequences. */
  async tail(record: ProcessRecord, chars: number): Promise<string> {
    const folder = await this.#access.folderOf(record)
    const end = outputEndIn(record) ?? (await logEnd(folder)) ?? 0
    const from = Math.max(0, end - TAIL_BYTES_PER_CHAR * chars)
    const masking = await this.#access.settledMasking(folder, record, 'masked')
    const { offset, bytes } = await readRange(folder, from, end - from, masking)
    const kept = bytes.subarray(0, Math.max(0, end - offset))
    // A range that begins inside a line may begin inside a character or an escape sequence.
    const first = from === 0 ? 0 : kept.indexOf(NEWLINE) + 1
    const options = { maxChars: Number.POSITIVE_INFINITY, ansi: 'strip', final: true } as const
    const { text } = cutText(kept.subarray(first), options)
    return text.slice(-chars).toWellFormed()
  }

  /** Drops the screen and the cursors of a process whose log is gone. */
  async forget(pid: ProcessRecord['pid']): Promise<void> {
    ;(await this.#screens)?.forget(pid)
    await this.#cursors.forget(pid)
  }

  /** The masking for notices: a notice shows no more than the log does. */
  maskingOf(record: ProcessRecord): Promise<Masking | null> {
    return this.#access.masking(record, 'masked')
  }
}

function lateFrom(record: ProcessRecord): (line: Line) => Line & { readonly late?: true } {
  const end = outputEndIn(record) ?? Number.POSITIVE_INFINITY
  return (line) => (line.offset >= end ? { ...line, late: true } : line)
}
