import type { Terminal } from '../foreground/terminal.ts'
import { neutral } from '../print/neutral.ts'

/** Another screen than the shell's, without cursor, on which long lines are cut rather than wrapped. */
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[2J'
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l'

/** A terminal that shows whole pictures, and is the shell's again however this program ends. */
export class Screen {
  readonly #terminal: Terminal
  readonly #write: (text: string) => unknown
  readonly #taken: (keys: Buffer) => void
  readonly #resized: () => void
  #shown: readonly string[] = []
  #leave: (() => void) | null = null

  constructor(
    terminal: Terminal,
    write: (text: string) => unknown,
    heard: { readonly keys: (keys: Buffer) => void; readonly resized: () => void },
  ) {
    this.#terminal = terminal
    this.#write = write
    this.#taken = heard.keys
    this.#resized = heard.resized
  }

  enter(): void {
    if (this.#leave !== null) return
    const leaveScreen = () => void this.#write(LEAVE)
    process.on('exit', leaveScreen)
    const stopKeys = this.#terminal.raw(async (keys) => this.#taken(keys))
    const stopSizes = this.#terminal.onResize(() => {
      this.redraw()
      this.#resized()
    })
    this.#write(ENTER)
    this.redraw()
    this.#leave = () => {
      process.off('exit', leaveScreen)
      leaveScreen()
      stopSizes()
      stopKeys()
    }
  }

  /** Back to what the shell showed; `enter` comes again. */
  leave(): void {
    this.#leave?.()
    this.#leave = null
  }

  /** The next picture is drawn whole: nobody knows what is on the terminal. */
  redraw(): void {
    this.#shown = []
    if (this.#leave !== null) this.#write('\u001b[2J')
  }

  /** Draws the lines that have changed. */
  show(lines: readonly string[]): void {
    if (this.#leave === null) return
    const drawn = lines.flatMap((line, at) =>
      line === this.#shown[at]
        ? []
        : // Cleared first: behind a line as wide as the terminal the cursor stands on its last character.
          [`\u001b[${at + 1};1H\u001b[K${neutral(line)}\u001b[0m`],
    )
    if (drawn.length > 0) this.#write(drawn.join(''))
    this.#shown = lines
  }
}
