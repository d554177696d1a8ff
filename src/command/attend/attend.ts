import { join } from 'node:path'
import { RefusedError, StoreError } from '../../core/errors.ts'
import { own } from '../../core/json/json.ts'
import type { Work } from '../../kernel/executor.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import type { OwnIntent } from '../../kernel/perform-as.ts'
import type { CommandSpec } from '../../verbs/shapes/command-spec.ts'
import type { Cursors } from '../output/cursors.ts'
import { followOutput } from '../output/follow.ts'
import { logEnd } from '../output/layout.ts'
import { LineFinder } from '../output/line-finder.ts'
import type { Masking } from '../output/masking.ts'
import { Nudge } from '../output/nudge.ts'
import type { Piece } from '../output/pieces.ts'
import { LineScan } from './line-scan.ts'
import { detailOf, READY_TIMEOUT_MS, tryOnce } from './readiness.ts'
import type { Surroundings } from './shell-try.ts'
import { type Said, Watch, watchName } from './watch.ts'

export interface AttendOptions {
  /** Where the logs are. */
  readonly output: string
  readonly cursors: Cursors
  /** Watches see what a reader sees. */
  readonly masking: () => Promise<Masking | null>
  /** What a command has around it, and so has a line that says whether it is ready. */
  readonly surroundings: () => Promise<Surroundings>
  /** Calls when the log has grown. */
  readonly follow: (grew: () => void) => () => void
  readonly onTrouble: (error: unknown, doing: string) => void
}

/** Somebody who looks at a command while it runs: for what is watched for, for being ready, for signs of life. */
export interface Attendance {
  /**
   * The program has ended, and its output with it. Resolves when all of that has been looked at, and what is to be told
   * written: with how many lines were held back of each watch and are told of by no match any more.
   */
  finish(outputEnd: number): Promise<HeldBack>
  /** This kernel has it no longer: whoever has it next goes on. */
  stop(): void
}

export type HeldBack = Readonly<Record<string, number>>

/** What looks for growth that nobody told of. */
const LOOK_MS = 2_000
/** A keeper whose disk is full may still hold the last bytes. */
const LAST_LOOK_MS = 250
const RETRY_MS = 500
const TEXT_BYTES = 1024 * 1024
const LINE_BYTES = 64 * 1024
/** A position is noted no more often than this: whoever comes next looks at so much again. */
const NOTE_MS = 1_000
const PROBE_MS = 250
const PROBE_MOST_MS = 2_000

/** Null if nothing is asked for. */
export function attend(work: Work, kernel: Kernel, options: AttendOptions): Attendance | null {
  const { watch = [], ready, heartbeatMs } = work.record.spec as unknown as CommandSpec
  const isReady = ready === undefined || work.record.readiness !== null
  if (watch.length === 0 && isReady && heartbeatMs === undefined) return null
  return new Attending(work, kernel, options)
}

class Attending implements Attendance {
  readonly #work: Work
  readonly #kernel: Kernel
  readonly #options: AttendOptions
  readonly #spec: CommandSpec
  readonly #stop = new AbortController()
  readonly #nudge = new Nudge()
  readonly #scanned: Promise<void>
  #watches: readonly Watch[] = []
  #outputEnd: number | null = null
  #notedAt = 0

  constructor(work: Work, kernel: Kernel, options: AttendOptions) {
    this.#work = work
    this.#kernel = kernel
    this.#options = options
    this.#spec = work.record.spec as unknown as CommandSpec
    this.#scanned = this.#orTrouble('watching', () => this.#scan())
    void this.#orTrouble('looking whether it is ready', () => this.#probe())
    void this.#orTrouble('looking for signs of life', () => this.#beat())
  }

  async finish(outputEnd: number): Promise<HeldBack> {
    this.#outputEnd = outputEnd
    this.#nudge.give()
    await this.#scanned
    this.stop()
    const held = this.#watches.filter((watch) => watch.held > 0)
    return Object.fromEntries(held.map((watch) => [watch.name, watch.held]))
  }

  stop(): void {
    this.#stop.abort()
    this.#nudge.give()
  }

  get #pid(): string {
    return this.#work.record.pid
  }

  /** Reads the output as it comes, for all watches at once, and for the line that says that it is ready. */
  async #scan(): Promise<void> {
    const { watch = [], ready } = this.#spec
    const { edges } = this.#kernel
    // As they are now: this may be the second time in one attempt.
    const row = await edges.store.ask({ ask: 'process', pid: this.#pid })
    const { watches: known, readiness } = row?.record ?? this.#work.record
    const noted = await this.#noted(watch.map(watchName))
    const watches = watch.map((spec) => {
      const state = own(known, watchName(spec))
      const scannedTo = Math.max(state?.scannedTo ?? 0, noted)
      const begun = { toldAt: null, strikes: 0, disabled: false, ...state, scannedTo }
      return new Watch(spec, begun, edges.rules.flood)
    })
    this.#watches = watches
    const isLog = ready !== undefined && 'log' in ready && readiness === null
    const finder = isLog ? new LineFinder({ pattern: ready.log }) : null
    if (watches.length === 0 && finder === null) return
    const scan = new LineScan(watches.map(({ needle }) => needle))
    const from = finder === null ? Math.min(...watches.map(({ safeTo }) => safeTo)) : 0
    const unfollow = this.#options.follow(() => this.#nudge.give())
    try {
      const folder = join(this.#options.output, this.#pid)
      const { signal } = this.#stop
      const wake = () => this.#nudge.within(this.#outputEnd === null ? LOOK_MS : LAST_LOOK_MS)
      let waitsForReady = finder
      // A pattern is tried on every line, and others want to be served meanwhile; a text is found much faster than it is read.
      const readBytes =
        finder === null && watches.every(({ needle }) => needle !== null) ? TEXT_BYTES : LINE_BYTES
      const ended = () => this.#outputEnd
      const masking = await this.#options.masking()
      for await (const piece of followOutput(folder, { from, signal, wake, ended, readBytes, masking })) {
        const looked = { offset: piece.offset, bytes: piece.bytes, gap: piece.gap }
        if (waitsForReady?.add(looked) != null) {
          waitsForReady = null
          await this.#settleReady(null)
        }
        await this.#look(watches, scan, looked)
        if (waitsForReady === null && watches.every(({ disabled }) => disabled)) return
      }
      if (!signal.aborted) await this.#tellAll(watches, scan.end())
    } finally {
      unfollow()
    }
  }

  async #look(watches: readonly Watch[], scan: LineScan, piece: Piece): Promise<void> {
    if (watches.length === 0) return
    const { clock } = this.#kernel.edges
    if (piece.gap !== null) {
      // What was open before the gap ends there.
      await this.#tellAll(watches, scan.end())
      for (const watch of watches) await this.#say(watch.meetsGap(piece.gap, clock.now()))
    }
    await this.#tellAll(watches, scan.add({ ...piece, gap: null }))
    if (clock.now() - this.#notedAt < NOTE_MS) return
    this.#notedAt = clock.now()
    await this.#note(watches)
  }

  async #tellAll(watches: readonly Watch[], { lines, end }: ReturnType<LineScan['end']>): Promise<void> {
    const at = this.#kernel.edges.clock.now()
    for (const watch of watches) await this.#say(watch.sees(lines, end, at))
  }

  async #say(said: Said | null): Promise<void> {
    if (said !== null) await this.#write(said)
  }

  /**
   * How far all watches have looked, so that the next daemon need not begin at the start, where output may be gone that was
   * looked at. It is no fact about the process: if it is lost, lines are looked at again, and told once all the same.
   */
  async #note(watches: readonly Watch[]): Promise<void> {
    const to = Math.min(...watches.filter(({ disabled }) => !disabled).map(({ safeTo }) => safeTo))
    if (Number.isFinite(to))
      await this.#options.cursors.set(this.#pid, notedBy(watches.map(({ name }) => name)), to)
  }

  async #noted(names: readonly string[]): Promise<number> {
    return (await this.#options.cursors.get(this.#pid, notedBy(names))) ?? 0
  }

  /** Tries until it answers, or its time is up. */
  async #probe(): Promise<void> {
    const { ready } = this.#spec
    const { record } = this.#work
    if (ready === undefined || record.readiness !== null) return
    const timeoutMs = ready.timeoutMs ?? READY_TIMEOUT_MS
    const until = (record.firstStarted?.at ?? record.createdAt) + timeoutMs
    for (let pause = PROBE_MS; !this.#isOver; pause = Math.min(pause * 2, PROBE_MOST_MS)) {
      const left = until - this.#kernel.edges.clock.now()
      if (left <= 0) return this.#settleReady(timeoutMs)
      if (!('log' in ready) && (await tryOnce(ready, this.#options.surroundings, this.#stop.signal)) === null)
        return this.#settleReady(null)
      await this.#pause('log' in ready ? left : Math.min(pause, left))
    }
  }

  #settleReady(timeoutMs: number | null): Promise<void> {
    const { ready } = this.#spec
    if (ready === undefined) return Promise.resolve()
    return this.#write({ type: 'settle_readiness', ...detailOf(ready), timeoutMs })
  }

  /** Only with new output, and at most one in the time that was asked for. */
  async #beat(): Promise<void> {
    const { heartbeatMs } = this.#spec
    if (heartbeatMs === undefined) return
    const folder = join(this.#options.output, this.#pid)
    let before = (await logEnd(folder)) ?? 0
    for (;;) {
      await this.#pause(heartbeatMs)
      if (this.#isOver) return
      const outputBytes = (await logEnd(folder)) ?? 0
      if (outputBytes > before)
        await this.#write({ type: 'beat', outputBytes, newBytes: outputBytes - before })
      before = outputBytes
    }
  }

  get #isOver(): boolean {
    return this.#stop.signal.aborted || this.#outputEnd !== null
  }

  /** A store that is away is tried again until it is back: what was seen must not be lost. */
  async #write(intent: OwnIntent): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await this.#kernel.performAs(this.#work, intent)
        return
      } catch (error) {
        // Ended, or another's: then it is not ours to tell.
        if (error instanceof RefusedError) return
        if (!(error instanceof StoreError)) throw error
        this.#options.onTrouble(error, `telling what ${this.#pid} printed`)
      }
      await this.#pause(RETRY_MS)
    }
  }

  #pause(ms: number): Promise<void> {
    const { signal } = this.#stop
    return new Promise((resolve) => {
      const finish = () => {
        cancel()
        signal.removeEventListener('abort', finish)
        resolve()
      }
      const cancel = this.#kernel.edges.clock.after(ms, finish)
      if (signal.aborted) finish()
      else signal.addEventListener('abort', finish)
    })
  }

  async #orTrouble(doing: string, task: () => Promise<void>): Promise<void> {
    try {
      await task()
    } catch (error) {
      this.#options.onTrouble(error, `${doing}: ${this.#pid}`)
    }
  }
}

function notedBy(names: readonly string[]): string {
  return `watch ${JSON.stringify(names)}`
}
