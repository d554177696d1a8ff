import { once } from 'node:events'
import { constants } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { attachTerminal, RESET_TERMINAL } from '../foreground/attach-terminal.ts'
import { type Terminal, terminalOf } from '../foreground/terminal.ts'
import { keyBytes } from '../keys.ts'
import type { ProcessFilter } from '../list-processes.ts'
import { keysIn } from './keys.ts'
import { EMPTY, type Picture, type Sort } from './picture.ts'
import { type Act, press } from './press.ts'
import { pageOf, render, type Size } from './render.ts'
import { nameOf, rowsOf } from './rows.ts'
import { Screen } from './screen.ts'
import { settled } from './settle.ts'
import { ROUND_MS, Watch } from './watch.ts'

const LETS_GO = 'ctrl-]'
/** All lines scroll again, all are empty, and the cursor is at the first. */
const SWEEP = '\u001b[r\u001b[2J\u001b[H'

/** The live tree at a terminal, until somebody quits. */
export async function liveTop(
  context: Context<unknown>,
  reeve: ReeveVerbs,
  options: LiveOptions,
): Promise<number> {
  return new LiveTop(context, reeve, options).run()
}

interface LiveOptions {
  readonly filter: ProcessFilter
  readonly sort: Sort
}

class LiveTop {
  readonly #context: Context<unknown>
  readonly #reeve: ReeveVerbs
  readonly #terminal: Terminal
  readonly #screen: Screen
  readonly #watch: Watch
  readonly #over = new AbortController()
  #picture: Picture
  #isDrawing = false
  /** The shell's screen was cleared for a command's terminal. */
  #isSwept = false
  /** One thing after the other: who is attached does not press keys here. */
  #acts: Promise<unknown> = Promise.resolve()

  constructor(context: Context<unknown>, reeve: ReeveVerbs, { filter, sort }: LiveOptions) {
    this.#picture = { ...EMPTY, sort }
    this.#context = context
    this.#reeve = reeve
    this.#terminal = terminalOf(context.around)
    this.#screen = new Screen(this.#terminal, (text) => context.around.stdout.write(text), {
      keys: (keys) => this.#pressed(keys),
      resized: () => this.#draw(),
    })
    this.#watch = new Watch(reeve, filter, (update) => this.#change(update))
  }

  async run(): Promise<number> {
    const sayAsides = this.#context.print.holdAsides()
    const forgetSignals = exitOnSignals()
    // Ages grow also when nothing happens.
    const ticks = setInterval(() => this.#draw(), ROUND_MS)
    try {
      this.#screen.enter()
      this.#draw()
      // What is under way when somebody quits is not waited for: the daemon may be away.
      void this.#watch.run(() => this.#picture, this.#over.signal)
      await once(this.#over.signal, 'abort')
    } finally {
      clearInterval(ticks)
      this.#screen.leave()
      forgetSignals()
      sayAsides()
    }
    return 0
  }

  #change(update: (picture: Picture) => Picture): void {
    this.#picture = update(this.#picture)
    this.#draw()
  }

  /** However much changes at once, it is drawn once. */
  #draw(): void {
    if (this.#isDrawing || this.#over.signal.aborted) return
    this.#isDrawing = true
    setImmediate(() => {
      this.#isDrawing = false
      const size = this.#size()
      this.#picture = settled(this.#picture, rowsOf(this.#picture), pageOf(size))
      this.#screen.show(render(this.#picture, size, this.#context.print.colours, Date.now()))
    })
  }

  /** A terminal that does not say how large it is, a serial line for example, is taken to be of the usual size. */
  #size(): Size {
    const { cols, rows } = this.#terminal.size()
    return { cols: cols > 1 ? cols : 80, rows: rows > 1 ? rows : 24 }
  }

  #pressed(bytes: Buffer): void {
    for (const key of keysIn(bytes)) {
      const { picture, act } = press(this.#picture, key, pageOf(this.#size()))
      this.#picture = picture
      if (act !== null) this.#perform(act)
    }
    this.#draw()
  }

  #perform(act: Act): void {
    switch (act.act) {
      case 'quit':
        this.#over.abort()
        break
      case 'redraw':
        this.#screen.redraw()
        break
      case 'suspend':
        this.#next(() => this.#suspend())
        break
      case 'logs':
        void this.#read(act.pid).catch(this.#sayFailure)
        break
      case 'attach':
        this.#next(() => this.#attach(act.pid))
        break
      case 'pause':
      case 'resume':
        this.#next(() => this.#reeve.signal({ pid: act.pid, signal: act.act }))
        break
      case 'kill':
        this.#kill(act.pid)
    }
  }

  /** Nothing waits for it: it may take its grace, and the picture shows how it gets on. */
  #kill(pid: string): void {
    const name = this.#nameOf(pid)
    this.#say(`Ending ${name} …`)
    this.#reeve.kill({ pid }).then(() => this.#say(`${name} was ended.`), this.#sayFailure)
  }

  /** The end of its output, as long as somebody looks at it. */
  async #read(pid: string): Promise<void> {
    const isLookedAt = () => this.#picture.mode.in === 'logs' && this.#picture.mode.pid === pid
    while (isLookedAt() && !this.#over.signal.aborted) {
      const limit = this.#size().rows
      const { lines } = await this.#reeve.log({ pid, limit }).catch((error: unknown) => {
        if (isLookedAt()) this.#change((picture) => ({ ...picture, mode: { in: 'list' } }))
        throw error
      })
      const texts = lines.map(({ text }) => text)
      if (isLookedAt()) this.#change((picture) => ({ ...picture, mode: { in: 'logs', pid, lines: texts } }))
      await sleep(ROUND_MS, undefined, { signal: this.#over.signal }).catch(() => undefined)
    }
  }

  #next(act: () => Promise<unknown>): void {
    this.#acts = this.#acts
      .then(() => (this.#over.signal.aborted ? undefined : act()))
      .catch(this.#sayFailure)
  }

  async #attach(pid: string): Promise<void> {
    const name = this.#nameOf(pid)
    this.#screen.leave()
    const { stdout } = this.#context.around
    // What the shell showed is kept above; the command's terminal gets a clean one, and leaves one behind.
    if (!this.#isSwept) stdout.write(`\u001b[${this.#size().rows};1H${'\n'.repeat(this.#size().rows)}`)
    this.#isSwept = true
    stdout.write(`${SWEEP}At the terminal of ${name}; Ctrl-] leads back.\r\n`)
    try {
      const letGo = keyBytes(LETS_GO).charCodeAt(0)
      const how = await attachTerminal(this.#reeve, pid, this.#terminal, { letGo })
      this.#say(how === 'ended' ? `${name} has ended.` : `Back from ${name}; it goes on.`)
    } finally {
      stdout.write(`${RESET_TERMINAL}${SWEEP}`)
      this.#screen.enter()
    }
  }

  /** Gives the terminal back and stops with all of this job; the shell's `fg` goes on here. */
  async #suspend(): Promise<void> {
    this.#screen.leave()
    process.kill(0, 'SIGTSTP')
    // Nothing runs here while it is stopped, and a job that cannot be stopped goes on after a moment.
    await sleep(50)
    this.#screen.enter()
    this.#draw()
  }

  #nameOf(pid: string): string {
    const record = this.#picture.records.get(pid)
    return record === undefined ? pid : nameOf(record)
  }

  #say(said: string): void {
    this.#change((picture) => ({ ...picture, said }))
  }

  readonly #sayFailure = (error: unknown): void => {
    const { message, remedy } = error as { message: string; remedy?: string }
    this.#say(remedy === undefined ? message : `${message} ${remedy}`)
  }
}

/** By default they would end this program without a word to the terminal. */
function exitOnSignals(): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const
  const undo = signals.map((signal) => {
    const exit = () => process.exit(128 + constants.signals[signal])
    process.on(signal, exit)
    return () => process.off(signal, exit)
  })
  return () => {
    for (const off of undo) off()
  }
}
