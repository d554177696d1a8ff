import type { Pid } from '../../core/process/pid.ts'
import type { Masker } from '../../redaction/masker.ts'
import type { Gap } from '../output/layout.ts'
import { maskedRows } from './masked-rows.ts'
import { MAX_SCROLLBACK, TerminalReplay } from './terminal-replay.ts'

export interface ShowOptions {
  /** The size that the terminal began with; the log says how it changed. */
  readonly cols: number
  readonly rows: number
  /** So many lines above the window, too. */
  readonly scrollback?: number
  /** Masks secrets on the screen. */
  readonly masker?: Masker | null
  /** The program lives, and may print more. */
  readonly isLive?: boolean
}

/** The content of a terminal. */
export interface Screen {
  readonly cols: number
  readonly rows: number
  /** One per row, from the top, without the blanks at its end. */
  readonly lines: readonly string[]
  /** The lines above the window, as many as were asked for and are there. */
  readonly scrollback: readonly string[]
  /** From 0; 0 is the top row, and the left column. */
  readonly cursor: { readonly row: number; readonly column: number }
  /** All of the log before this offset has been shown. */
  readonly offset: number
  /** The screen of a full-screen program, to which no lines above belong. */
  readonly alternate: boolean
  readonly title?: string
  /** The part of the log that was not replayed: the screen may differ from that of a real terminal. */
  readonly truncated: Gap | null
}

/**
 * The screens of terminal programs, rebuilt from their logs. Recently shown terminals are cached, and fed only new
 * output; beyond `MAX_TERMINALS` the least recently used one is evicted, and rebuilt on the next request.
 */
export class Screens {
  /** In the order they were last asked for. Masked and revealed screens of one process are two terminals. */
  readonly #cached = new Map<string, CachedTerminal>()

  async show(pid: Pid, folder: string, options: ShowOptions): Promise<Screen> {
    const terminal = this.#terminalOf(pid, folder, options)
    const answer = terminal.turn.then(async () => {
      const isLive = options.isLive ?? false
      if (!(await terminal.replay.catchUp(isLive))) {
        terminal.replay.dispose()
        terminal.replay = new TerminalReplay(folder, options.cols, options.rows, terminal.masker)
        await terminal.replay.catchUp(isLive)
      }
      const scrollback = Math.min(options.scrollback ?? 0, MAX_SCROLLBACK)
      return screenOf(terminal.replay, scrollback, terminal.masker, isLive)
    })
    // One after the other: a terminal can't be fed by two. An error is the caller's; the next one tries again.
    terminal.turn = answer.then(ignore, ignore)
    return answer
  }

  forget(pid: Pid): void {
    this.#drop(keyOf(pid, true))
    this.#drop(keyOf(pid, false))
  }

  #drop(key: string): void {
    const terminal = this.#cached.get(key)
    if (terminal === undefined) return
    this.#cached.delete(key)
    // Callers that wait for this terminal still get their answer.
    void terminal.turn.then(() => terminal.replay.dispose())
  }

  #terminalOf(pid: Pid, folder: string, { cols, rows, masker = null }: ShowOptions): CachedTerminal {
    const key = keyOf(pid, masker !== null)
    const known = this.#cached.get(key)
    // A masker is another one when more has become known as a secret.
    if (known !== undefined && (known.cols !== cols || known.rows !== rows || known.masker !== masker))
      this.#drop(key)
    const terminal = this.#cached.get(key) ?? {
      replay: new TerminalReplay(folder, cols, rows, masker),
      cols,
      rows,
      masker,
      turn: Promise.resolve(),
    }
    this.#cached.delete(key)
    this.#cached.set(key, terminal)
    for (const oldest of this.#cached.keys()) {
      if (this.#cached.size <= MAX_TERMINALS) break
      this.#drop(oldest)
    }
    return terminal
  }
}

function keyOf(pid: Pid, isMasked: boolean): string {
  return isMasked ? pid : `${pid} revealed`
}

/** About 2 MB each. */
export const MAX_TERMINALS = 16

interface CachedTerminal {
  replay: TerminalReplay
  readonly masker: Masker | null
  readonly cols: number
  readonly rows: number
  turn: Promise<void>
}

function screenOf(
  replay: TerminalReplay,
  scrollback: number,
  masker: Masker | null,
  isLive: boolean,
): Screen {
  const { terminal, title } = replay
  const { cols, rows } = terminal
  const buffer = terminal.buffer.active
  const above = Math.min(scrollback, buffer.baseY)
  const shown = maskedRows(buffer, buffer.baseY - above, buffer.baseY + rows, masker, isLive)
  return {
    cols,
    rows,
    lines: shown.slice(above),
    scrollback: shown.slice(0, above),
    // Behind the last column, the terminal keeps the cursor on it: the next character goes to the next line.
    cursor: { row: buffer.cursorY, column: Math.min(buffer.cursorX, cols - 1) },
    offset: replay.offset,
    alternate: buffer.type === 'alternate',
    ...(title === undefined ? {} : { title: masker?.text(title) ?? title }),
    truncated: replay.gap,
  }
}

function ignore(): void {}
