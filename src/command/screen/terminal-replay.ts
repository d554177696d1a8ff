import headless from '@xterm/headless'
import type { IndexEntry } from '../../output-log/log-format.ts'
import type { Masker } from '../../redaction/masker.ts'
import { IndexFile } from '../output/index-file.ts'
import type { Gap } from '../output/layout.ts'
import type { Masking } from '../output/masking.ts'
import { readRange } from '../output/read.ts'
import { TextStream } from '../output/text.ts'
import { widths } from './widths.ts'

/**
 * A terminal that is shown a log: all its bytes in order, the size of the window changed where it was changed then. What
 * it shows depends on the log alone, not on how often it was fed.
 *
 * With a masker it replays the masked log. So the remains of a secret that the program partly overwrote are masked, too,
 * although the screen no longer shows that they belong to a secret.
 */
export class TerminalReplay {
  readonly terminal: headless.Terminal
  readonly #folder: string
  readonly #masker: Masker | null
  /** How far it has been fed. */
  #at = 0
  /** How many of the sizes noted at one offset the window has had already. */
  #sized = { offset: 0, count: 0 }
  #gap: Gap | null = null
  /** The terminal's own decoder loses characters of four bytes that come in pieces. */
  #text = new TextStream('keep')
  #title: string | undefined
  /** The last replayed bytes, masked because they may begin a secret. More output may show that they do not. */
  #provisional: Provisional | null = null
  /** The last bytes that were fed, up to `FEED_BYTES`. */
  #fed: Buffer = NOTHING

  constructor(folder: string, cols: number, rows: number, masker: Masker | null = null) {
    this.#folder = folder
    this.#masker = masker
    this.terminal = new headless.Terminal({
      cols,
      rows,
      scrollback: MAX_SCROLLBACK,
      allowProposedApi: true,
      logLevel: 'off',
    })
    this.terminal.unicode.register(widths)
    this.terminal.unicode.activeVersion = widths.version
    this.terminal.onTitleChange((title) => {
      this.#title = title === '' ? undefined : title
    })
  }

  get offset(): number {
    return this.#at
  }

  /** The last part of the log that it never saw. */
  get gap(): Gap | null {
    return this.#gap
  }

  get title(): string | undefined {
    return this.#title
  }

  /**
   * Replays the log up to its current end. `isLive`: the program may write more. False if bytes were masked provisionally that
   * turned out to be no secret: a terminal cannot unread its input, so the caller has to replay the log in a new one.
   */
  async catchUp(isLive = false): Promise<boolean> {
    if (!(await this.#isStillTrue(isLive))) return false
    const begun = this.#provisional?.offset ?? this.#at
    await this.#feedRest(isLive)
    this.#provisional = await this.#provisionalFrom(begun, isLive)
    return true
  }

  async #feedRest(isLive: boolean): Promise<void> {
    let end = Number.POSITIVE_INFINITY
    while (this.#at < end) {
      const chunk = await readRange(this.#folder, this.#at, FEED_BYTES, this.#masking(isLive, true))
      // Once: a program that writes without end must not keep its reader for ever.
      end = Math.min(end, chunk.end)
      // After the bytes: a size is recorded before the output that follows it.
      const sizes = await this.#newSizes(chunk.next)
      if (chunk.gap !== null) {
        this.#gap = chunk.gap
        this.#at = chunk.offset
        this.#text = new TextStream('keep')
        this.#fed = NOTHING
        await this.#write(CANCEL)
      }
      await this.#feed(chunk.bytes, sizes)
      if (this.#masker !== null) this.#fed = Buffer.concat([this.#fed, chunk.bytes]).subarray(-FEED_BYTES)
      if (chunk.bytes.length === 0) break
    }
  }

  /** Whether the provisionally masked bytes are masked the same way now that the log has grown. */
  async #isStillTrue(isLive: boolean): Promise<boolean> {
    if (this.#provisional === null) return true
    const { offset, bytes } = this.#provisional
    const again = await readRange(this.#folder, offset, bytes.length, this.#masking(isLive, true))
    return again.gap !== null || again.bytes.equals(bytes)
  }

  /** The bytes from `offset` on whose masking may still change. */
  async #provisionalFrom(offset: number, isLive: boolean): Promise<Provisional | null> {
    if (this.#masker === null || !isLive || offset >= this.#at) return null
    const from = Math.max(offset, this.#at - FEED_BYTES)
    const settled = await readRange(this.#folder, from, this.#at - from, this.#masking(isLive, false))
    const start = Math.max(from, Math.min(settled.next, this.#at))
    if (settled.gap !== null || start >= this.#at) return null
    const length = Math.min(this.#at - start, this.#fed.length)
    return { offset: this.#at - length, bytes: this.#fed.subarray(this.#fed.length - length) }
  }

  /** `showsAll`: includes possible beginnings of secrets, masked. */
  #masking(isLive: boolean, showsAll: boolean): Masking | null {
    return this.#masker === null ? null : { masker: this.#masker, final: !isLive, mayShow: () => showsAll }
  }

  dispose(): void {
    this.terminal.dispose()
  }

  async #newSizes(to: number): Promise<IndexEntry[]> {
    const noted = await IndexFile.with(
      this.#folder,
      async (index) => (await index?.between(this.#at, to)) ?? [],
    )
    const sizes = noted.filter(({ sort }) => sort === 'size')
    return this.#sized.offset === this.#at ? sizes.slice(this.#sized.count) : sizes
  }

  /** Up to each size, which then holds: also one that was noted where the log ends, since nothing comes before it. */
  async #feed(bytes: Buffer, sizes: readonly IndexEntry[]): Promise<void> {
    const start = this.#at
    for (const size of sizes) {
      const stop = Math.max(this.#at, size.offset)
      await this.#show(bytes.subarray(this.#at - start, stop - start))
      this.#resize(size)
    }
    await this.#show(bytes.subarray(this.#at - start))
  }

  async #show(bytes: Buffer): Promise<void> {
    if (bytes.length === 0) return
    await this.#write(this.#text.write(bytes))
    this.#at += bytes.length
  }

  #resize({ offset, value }: IndexEntry): void {
    const count = this.#sized.offset === offset ? this.#sized.count : 0
    this.#sized = { offset, count: count + 1 }
    const cols = Math.floor(value / 65_536)
    const rows = value % 65_536
    if (cols > 0 && rows > 0) this.terminal.resize(cols, rows)
  }

  async #write(text: string): Promise<void> {
    await new Promise<void>((resolve) => this.terminal.write(text, resolve))
  }
}

interface Provisional {
  readonly offset: number
  readonly bytes: Buffer
}

/** Lines above the window that are kept. */
export const MAX_SCROLLBACK = 1000

const FEED_BYTES = 64 * 1024
const NOTHING = Buffer.alloc(0)

/** Ends an escape sequence that a gap broke off. */
const CANCEL = '\x18'
