import type { Terminal } from '../foreground/terminal.ts'
import { neutral } from '../print/neutral.ts'

/** The alternate screen, without cursor and line wrap. */
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[2J'
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l'

/** Draws whole screens of lines. The shell gets its screen back however this program ends. */
export class Screen {
  readonly #terminal: Terminal
  readonly #write: (text: string) => unknown
  readonly #onKeys: (keys: Buffer) => void
  readonly #onResize: () => void
  #shown: readonly string[] = []
  #leave: (() => void) | null = null

  constructor(
    terminal: Terminal,
    write: (text: string) => unknown,
    listeners: { readonly keys: (keys: Buffer) => void; readonly resized: () => void },
  ) {
    this.#terminal = terminal
    this.#write = write
    this.#onKeys = listeners.keys
    this.#onResize = listeners.resized
  }

  enter(): void {
    if (this.#leave !== null) return
    const leaveScreen = () => void this.#write(LEAVE)
    process.on('exit', leaveScreen)
    const stopKeys = this.#terminal.raw(async (keys) => this.#onKeys(keys))
    const stopSizes = this.#terminal.onResize(() => {
      this.redraw()
      this.#onResize()
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

  /** Restores the shell's screen. `enter` returns to this one. */
  leave(): void {
    this.#leave?.()
    this.#leave = null
  }

  /** Makes the next `show` draw all lines, because the content of the terminal is unknown. */
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
        : // Cleared first: after a line as wide as the terminal, the cursor is still on its last character.
          [`\u001b[${at + 1};1H\u001b[K${neutral(line)}\u001b[0m`],
    )
    if (drawn.length > 0) this.#write(drawn.join(''))
    this.#shown = lines
  }
}
