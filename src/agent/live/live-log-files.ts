import { join } from 'node:path'
import type { Pid } from '../../core/process/pid.ts'
import type { Fragment } from '../../model/model.ts'
import { hasRoom } from '../../output-log/has-room.ts'
import { IndexWriter } from '../../output-log/index-writer.ts'
import type { Stream } from '../../output-log/log-format.ts'
import type { OpenLog, OpenLogs } from '../../output-log/open-logs.ts'
import { Segments } from '../../output-log/segments.ts'
import { type LabelledText, type LabelState, labelFragment } from './label-fragments.ts'

export interface LiveLogFilesOptions {
  /** The folder of all output logs. */
  readonly output: string
  readonly openLogs: OpenLogs
  /** With less than this free on disk, nothing is written. */
  readonly minFreeBytes: number
  /** Followers of the log may read on. */
  readonly grew: (pid: Pid) => void
  readonly onTrouble: (error: unknown, doing: string) => void
  readonly now: () => number
}

/** The files of one live log, shared by everything that has it open. Nothing is read or opened before the first use. */
export class LiveLogFiles implements OpenLog {
  readonly #pid: Pid
  readonly #options: LiveLogFilesOptions
  readonly #folder: string
  #files: { readonly segments: Segments; readonly index: IndexWriter } | null = null
  #end: number | null = null
  #labels: LabelState = { part: null, isLineStart: true }
  #noted: { readonly stream: Stream; readonly at: number } | null = null
  #uncheckedBytes = CHECK_DISK_BYTES
  /** After a failure nothing is tried before this time. */
  #retryAt = 0
  #isTroubleReported = false

  constructor(pid: Pid, options: LiveLogFilesOptions) {
    this.#pid = pid
    this.#options = options
    this.#folder = join(options.output, pid)
  }

  /** Includes bytes that could not be written: they are a gap. */
  get end(): number {
    this.#end ??= this.#begin()
    return this.#end
  }

  append(fragment: Fragment): void {
    let at = this.end
    const { state, texts } = labelFragment(this.#labels, fragment)
    this.#labels = state
    for (const text of texts) at = this.#write(text, at)
    this.#end = at
    if (texts.length > 0) this.#options.grew(this.#pid)
  }

  closeFiles(): void {
    this.#files?.segments.close()
    this.#files?.index.close()
  }

  close(): void {
    this.#options.openLogs.closed(this)
    this.closeFiles()
  }

  #begin(): number {
    const end = this.#tried(() => this.#opened().segments.end) ?? 0
    this.#labels = { part: null, isLineStart: end === 0 }
    return end
  }

  /** The offset behind the text. Bytes that the disk does not take are dropped, and the next write leaves a gap. */
  #write({ stream, text }: LabelledText, at: number): number {
    const bytes = Buffer.from(text)
    const end = this.#tried(() => {
      this.#throwIfFull(bytes.length)
      const { segments, index } = this.#opened()
      this.#options.openLogs.used(this)
      if (segments.end < at) segments.skip(at - segments.end)
      this.#note(index, stream, segments.end)
      for (let written = 0; written < bytes.length; ) written += segments.write(bytes, written)
      return segments.end
    })
    return end ?? at + bytes.length
  }

  #opened(): { readonly segments: Segments; readonly index: IndexWriter } {
    if (this.#files !== null) return this.#files
    const index = new IndexWriter(this.#folder)
    const segments = new Segments(this.#folder, LIVE_CAPS, (from, to) => index.fellOut(from, to))
    this.#files = { segments, index }
    return this.#files
  }

  /** Undefined if it failed: the turn goes on without its live log. */
  #tried<Answer>(act: () => Answer): Answer | undefined {
    const { now, onTrouble } = this.#options
    if (now() < this.#retryAt) return undefined
    try {
      const answer = act()
      this.#isTroubleReported = false
      return answer
    } catch (error) {
      this.close()
      this.#files = null
      this.#noted = null
      this.#retryAt = now() + RETRY_MS
      if (!this.#isTroubleReported) onTrouble(error, `writing the live log of ${this.#pid}`)
      this.#isTroubleReported = true
      return undefined
    }
  }

  #throwIfFull(bytes: number): void {
    this.#uncheckedBytes += bytes
    if (this.#uncheckedBytes < CHECK_DISK_BYTES) return
    const { output, minFreeBytes } = this.#options
    if (!hasRoom(output, minFreeBytes)) throw new Error(`The disk of ${output} is nearly full.`)
    this.#uncheckedBytes = 0
  }

  /** Before the bytes: no reader may take them for those of another stream, even for a moment. */
  #note(index: IndexWriter, stream: Stream, offset: number): void {
    const at = this.#options.now()
    if (this.#noted?.stream === stream && Math.abs(at - this.#noted.at) < TIME_EVERY_MS) return
    index.write({ offset, sort: stream, value: at })
    this.#noted = { stream, at }
  }
}

/** How much of a live log is kept; older segments are dropped. */
const LIVE_TAIL_BYTES = 2 * 1024 * 1024
const LIVE_SEGMENT_BYTES = 256 * 1024
const LIVE_CAPS = { headBytes: 0, tailBytes: LIVE_TAIL_BYTES, segmentBytes: LIVE_SEGMENT_BYTES }
const CHECK_DISK_BYTES = 1024 * 1024
const TIME_EVERY_MS = 1000
const RETRY_MS = 1000
