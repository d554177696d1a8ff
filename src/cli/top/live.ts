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
import { withSelection } from './settle.ts'
import { ROUND_MS, Watch } from './watch.ts'

const DETACH_KEY = 'ctrl-]'
/** Resets the scroll region, clears the screen, and moves the cursor to the first line. */
const CLEAR = '\u001b[r\u001b[2J\u001b[H'

/** Shows the live tree on a terminal, until the user quits. */
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
  #isCleared = false
  /** Actions run one after the other: while the user is attached to a command, keys are not for this program. */
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
    // Ages change even if nothing happens.
    const ticks = setInterval(() => this.#draw(), ROUND_MS)
    try {
      this.#screen.enter()
      this.#draw()
      // Not awaited: when the user quits, the daemon may be away, and requests under way would delay the end.
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

  /** Draws once for all changes of one turn of the event loop. */
  #draw(): void {
    if (this.#isDrawing || this.#over.signal.aborted) return
    this.#isDrawing = true
    setImmediate(() => {
      this.#isDrawing = false
      const size = this.#size()
      this.#picture = withSelection(this.#picture, rowsOf(this.#picture), pageOf(size))
      this.#screen.show(render(this.#picture, size, this.#context.print.colours, Date.now()))
    })
  }

  /** A terminal that does not know its size, such as a serial line, counts as 80 by 24. */
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

  /** Other actions do not wait for it: a kill may take the whole grace, and the list shows its progress. */
  #kill(pid: string): void {
    const name = this.#nameOf(pid)
    this.#say(`Ending ${name} …`)
    this.#reeve.kill({ pid }).then(() => this.#say(`${name} was ended.`), this.#sayFailure)
  }

  /** Reads the end of the output again and again, while the logs page is open. */
  async #read(pid: string): Promise<void> {
    const isShown = () => this.#picture.mode.in === 'logs' && this.#picture.mode.pid === pid
    while (isShown() && !this.#over.signal.aborted) {
      const limit = this.#size().rows
      const { lines } = await this.#reeve.log({ pid, limit }).catch((error: unknown) => {
        if (isShown()) this.#change((picture) => ({ ...picture, mode: { in: 'list' } }))
        throw error
      })
      const texts = lines.map(({ text }) => text)
      if (isShown()) this.#change((picture) => ({ ...picture, mode: { in: 'logs', pid, lines: texts } }))
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
    // The shell's lines scroll up once, so that they are kept. The command gets a clean screen, and leaves a clean one.
    if (!this.#isCleared) stdout.write(`\u001b[${this.#size().rows};1H${'\n'.repeat(this.#size().rows)}`)
    this.#isCleared = true
    stdout.write(`${CLEAR}Attached to ${name}; Ctrl-] comes back.\r\n`)
    try {
      const detachKey = keyBytes(DETACH_KEY).charCodeAt(0)
      const how = await attachTerminal(this.#reeve, pid, this.#terminal, { detachKey })
      this.#say(how === 'ended' ? `${name} has ended.` : `Detached from ${name}, which goes on running.`)
    } finally {
      stdout.write(`${RESET_TERMINAL}${CLEAR}`)
      this.#screen.enter()
    }
  }

  /** Releases the terminal and stops this program's whole job; the shell's `fg` continues here. */
  async #suspend(): Promise<void> {
    this.#screen.leave()
    process.kill(0, 'SIGTSTP')
    // Time stands still while the job is stopped. A job that cannot be stopped goes on after this pause.
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

/** By default these signals would end this program without restoring the terminal. */
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
