import { ExponentialBackoff } from '../../base/exponential-backoff.ts'
import { Nudge } from '../../base/nudge.ts'
import { ReeveError } from '../../core/errors.ts'
import { own } from '../../core/json/json.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import { watchName } from '../../verbs/shapes/command-spec.ts'
import { followOutput } from '../output/follow.ts'
import type { Gap } from '../output/layout.ts'
import { LineFinder } from '../output/line-finder.ts'
import type { Piece } from '../output/pieces.ts'
import type { AwaitReady } from './await-ready.ts'
import { LineScan } from './line-scan.ts'
import type { ObservedCommand } from './observed-command.ts'
import { type Said, Watch } from './watch.ts'

/** Matches and gaps that no notice reports, by the name of the watch. */
export interface Untold {
  /** How many lines were held back. */
  readonly heldBack: Readonly<Record<string, number>>
  /** The bytes between which lines were not scanned, or could not be reported. */
  readonly missed: Readonly<Record<string, Gap>>
}

/** How often the scan checks for growth without a nudge. */
const LOOK_MS = 2_000
/** A keeper whose disk is full may still hold the last bytes. */
const LAST_LOOK_MS = 250
const TEXT_BYTES = 1024 * 1024
const LINE_BYTES = 64 * 1024
/** The least time between two saved positions: the next daemon scans this much again. */
const NOTE_MS = 1_000
const RETRY_MS = 500
const RETRY_MOST_MS = 2_000
/** After the end, an unreadable log is retried this often without progress: a process has to end some time. */
const TRIES_AFTER_END = 5

/**
 * Scans the output as it comes, for all watches at once and for the line that shows readiness. A failed read is repeated from
 * the same offset.
 */
export class OutputScan {
  readonly #bed: ObservedCommand
  readonly #ready: AwaitReady
  readonly #nudge = new Nudge()
  #watches: readonly Watch[] = []
  #outputEnd: number | null = null
  #lookedTo = 0
  #notedAt = 0
  #canNote = true
  /** Notices are written in order. */
  #saying: Promise<void> = Promise.resolve()
  #cancelHeld: (() => void) | null = null

  constructor(bed: ObservedCommand, ready: AwaitReady) {
    this.#bed = bed
    this.#ready = ready
  }

  /** How far the output has been scanned. */
  get lookedTo(): number {
    return this.#lookedTo
  }

  endAt(outputEnd: number): void {
    this.#outputEnd = outputEnd
    this.wake()
  }

  wake(): void {
    this.#nudge.give()
  }

  untold(): Untold {
    const held = this.#watches.filter((watch) => watch.held > 0)
    const missed = this.#watches.flatMap((watch) =>
      watch.missed === null ? [] : [[watch.name, watch.missed] as const],
    )
    return {
      heldBack: Object.fromEntries(held.map((watch) => [watch.name, watch.held])),
      missed: Object.fromEntries(missed),
    }
  }

  async run(): Promise<void> {
    const { watch = [] } = this.#bed.spec
    if (watch.length === 0 && this.#ready.pattern === null) return
    const watches = await this.#begun()
    this.#watches = watches
    const unfollow = this.#bed.options.follow(() => this.wake())
    const { signal } = this.#bed
    try {
      const backoff = new ExponentialBackoff(RETRY_MS, RETRY_MOST_MS)
      let triesAfterEnd = 0
      while (!signal.aborted) {
        const before = this.#lookedTo
        try {
          return await this.#pass(watches)
        } catch (error) {
          this.#bed.trouble(error, 'watching')
        }
        const isFurther = this.#lookedTo > before
        triesAfterEnd = this.#outputEnd === null || isFurther ? 0 : triesAfterEnd + 1
        if (this.#outputEnd !== null && triesAfterEnd === TRIES_AFTER_END) {
          for (const one of watches) one.givesUp(this.#outputEnd)
          return
        }
        if (isFurther) backoff.reset()
        await this.#bed.pause(backoff.nextMs())
      }
    } finally {
      unfollow()
      this.#cancelHeld?.()
      await this.#saying
    }
  }

  /** The watches at their saved positions: this may be the second scan of an attempt, or follow another daemon's. */
  async #begun(): Promise<readonly Watch[]> {
    const { watch = [] } = this.#bed.spec
    const { watches: known } = await this.#known()
    const noted = await this.#noted(watch.map(watchName))
    return watch.map((spec) => {
      const state = own(known, watchName(spec))
      const scannedTo = Math.max(state?.scannedTo ?? 0, noted)
      const begun = { toldAt: null, strikes: 0, disabled: false, ...state, scannedTo }
      return new Watch(spec, begun, this.#bed.kernel.edges.rules.flood)
    })
  }

  async #known(): Promise<ProcessRecord> {
    for (;;) {
      try {
        return await this.#bed.record()
      } catch (error) {
        if (!(error instanceof ReeveError)) throw error
        this.#bed.trouble(error, 'watching')
      }
      await this.#bed.pause(RETRY_MS)
      if (this.#bed.signal.aborted) return this.#bed.work.record
    }
  }

  /** Scans from the positions of the watches to the end; for a readiness line, from the beginning. */
  async #pass(watches: readonly Watch[]): Promise<void> {
    const { folder, signal, options } = this.#bed
    const { pattern } = this.#ready
    let finder = pattern === null ? null : new LineFinder({ pattern })
    if (finder === null && watches.every(({ disabled }) => disabled)) return
    const scan = new LineScan(watches.map(({ needle }) => needle))
    const from = finder === null ? Math.min(...watches.map(({ safeTo }) => safeTo)) : 0
    const wake = () => this.#nudge.within(this.#outputEnd === null ? LOOK_MS : LAST_LOOK_MS)
    const ended = () => this.#outputEnd
    // A pattern is tried on every line, so other work gets its turn in between; a text is found faster than it is read.
    const readBytes =
      finder === null && watches.every(({ needle }) => needle !== null) ? TEXT_BYTES : LINE_BYTES
    const masking = await options.masking()
    for await (const piece of followOutput(folder, { from, signal, wake, ended, readBytes, masking })) {
      const looked = { offset: piece.offset, bytes: piece.bytes, gap: piece.gap }
      const found = finder?.add(looked) ?? null
      if (found !== null) {
        await this.#ready.saw(found)
        finder = null
      }
      await this.#look(watches, scan, looked)
      this.#lookedTo = Math.max(this.#lookedTo, piece.offset + piece.bytes.length)
      if (finder === null && watches.every(({ disabled }) => disabled)) return
    }
    if (!signal.aborted) await this.#tellAll(watches, scan.end())
  }

  async #look(watches: readonly Watch[], scan: LineScan, piece: Piece): Promise<void> {
    if (watches.length === 0) return
    const now = this.#bed.now()
    if (piece.gap !== null) {
      // The unfinished line before the gap ends there.
      await this.#tellAll(watches, scan.end())
      for (const watch of watches) await this.#say(watch, watch.meetsGap(piece.gap, now))
    }
    await this.#tellAll(watches, scan.add({ ...piece, gap: null }))
    // A clock that was set back must not prevent the save.
    if (Math.abs(this.#bed.now() - this.#notedAt) < NOTE_MS) return
    this.#notedAt = this.#bed.now()
    await this.#note(watches)
  }

  async #tellAll(watches: readonly Watch[], { lines, end }: ReturnType<LineScan['end']>): Promise<void> {
    const at = this.#bed.now()
    for (const watch of watches) await this.#say(watch, watch.sees(lines, end, at))
    this.#awaitHeld(watches)
  }

  #say(watch: Watch, said: Said | null): Promise<void> {
    if (said === null) return Promise.resolve()
    this.#saying = this.#saying.then(async () => {
      if ((await this.#bed.write(said)) || said.type !== 'match') return
      watch.couldNotTell(said.match)
    })
    return this.#saying
  }

  /** Reports held-back matches when they are due, even without new output. */
  #awaitHeld(watches: readonly Watch[]): void {
    if (this.#cancelHeld !== null) return
    const now = this.#bed.now()
    const due = watches.map((watch) => watch.heldDueAt(now)).filter((at) => at !== null)
    if (due.length === 0) return
    const ms = Math.max(0, Math.min(...due) - now)
    this.#cancelHeld = this.#bed.kernel.edges.clock.after(ms, () => {
      this.#cancelHeld = null
      if (this.#bed.signal.aborted || this.#outputEnd !== null) return
      const at = this.#bed.now()
      for (const watch of watches)
        this.#say(watch, watch.tellsHeld(at)).catch((error: unknown) => this.#bed.trouble(error, 'watching'))
      this.#awaitHeld(watches)
    })
  }

  /**
   * Saves how far all watches have scanned, so that the next daemon need not begin at the start, where output may have been
   * dropped. The position is no fact about the process: if it is lost, lines are scanned again, and still reported once.
   */
  async #note(watches: readonly Watch[]): Promise<void> {
    const to = Math.min(...watches.filter(({ disabled }) => !disabled).map(({ safeTo }) => safeTo))
    if (!Number.isFinite(to)) return
    const { cursors } = this.#bed.options
    try {
      await cursors.set(this.#bed.pid, notedBy(watches.map(({ name }) => name)), to)
      this.#canNote = true
    } catch (error) {
      // A full disk stays full for a while: one report is enough.
      if (this.#canNote) this.#bed.trouble(error, 'noting how far watches have looked')
      this.#canNote = false
    }
  }

  async #noted(names: readonly string[]): Promise<number> {
    try {
      return (await this.#bed.options.cursors.get(this.#bed.pid, notedBy(names))) ?? 0
    } catch (error) {
      this.#bed.trouble(error, 'reading how far watches have looked')
      return 0
    }
  }
}

function notedBy(names: readonly string[]): string {
  return `watch ${JSON.stringify(names)}`
}
