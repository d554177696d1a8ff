import type { ReeveError } from '../../core/errors.ts'
import { toWire } from '../../verbs/request.ts'
import type { Surroundings } from '../context.ts'
import type { GlobalOptions } from '../global-options.ts'
import { type Colours, coloursFor } from './colour.ts'
import { displayWidth, padTo } from './display-width.ts'
import { hintFor } from './hint.ts'
import { neutral, neutralJson } from './neutral.ts'
import { remedyFor } from './remedy.ts'
import { type Cell, type Column, tableLines } from './table.ts'

const LINE_ENDS = /\r?\n/g

/** How many asides wait while a program has the screen; older ones are dropped. */
const MAX_HELD = 20

/** Prints to standard output and error: tables and colours for people, JSON for programs. */
export class Printer {
  readonly colours: Colours
  readonly #around: Surroundings
  readonly #options: GlobalOptions
  /** Asides that wait until the screen is free; null while it is free. */
  #held: string[] | null = null
  #beforeAside: (() => void) | null = null

  constructor(around: Surroundings, options: GlobalOptions) {
    this.#around = around
    this.#options = options
    this.colours = coloursFor(around.stdout, around.env, options.color)
  }

  /** A printer with the same options for another standard output. */
  writingTo(around: Surroundings): Printer {
    return new Printer(around, this.#options)
  }

  get isJson(): boolean {
    return this.#options.json || this.#options.jsonl
  }

  /** The width of the terminal; undefined where there is none, and nothing is cut. */
  get width(): number | undefined {
    return this.#around.stdout.isTTY ? (this.#around.stdout.columns ?? 80) : undefined
  }

  /** Prints a line that may have untrusted text in it: of its escape sequences only colours are printed. */
  line(text = ''): void {
    this.#around.stdout.write(`${neutral(text)}\n`)
  }

  /** Prints a line with all its escape sequences, for callers that have asked for that. */
  rawLine(text: string): void {
    this.#around.stdout.write(`${text}\n`)
  }

  /** A remark for people, on standard error. */
  aside(text: string): void {
    if (this.#held !== null) {
      this.#held = [...this.#held, text].slice(-MAX_HELD)
      return
    }
    this.#beforeAside?.()
    const { dim } = coloursFor(this.#around.stderr, this.#around.env, this.#options.color)
    this.#around.stderr.write(`${dim(`reeve: ${neutral(hintFor(this.#options, text))}`)}\n`)
  }

  /** Keeps asides back, which would garble a full-screen display, until the returned function is called. */
  holdAsides(): () => void {
    this.#held = []
    return () => {
      const held = this.#held ?? []
      this.#held = null
      for (const text of held) this.aside(text)
    }
  }

  /** Calls `endLine` before each aside, until the returned function is called: for output that stops in the middle of a line. */
  endLineBeforeAsides(endLine: () => void): () => void {
    this.#beforeAside = endLine
    return () => {
      this.#beforeAside = null
    }
  }

  /** One answer: a JSON text over several lines, or on one with `--jsonl`. */
  json(value: unknown): void {
    this.#jsonText(value, this.#options.jsonl ? undefined : 2)
  }

  /** Many items: a JSON array, or a line for each with `--jsonl`. */
  jsonList(values: readonly unknown[]): void {
    if (this.#options.jsonl) for (const value of values) this.#jsonText(value)
    else this.#jsonText(values, 2)
  }

  /** One item of a stream: always one line. */
  jsonLine(value: unknown): void {
    this.#jsonText(value)
  }

  #jsonText(value: unknown, indent?: number): void {
    this.#around.stdout.write(`${neutralJson(toWire(value, indent))}\n`)
  }

  table(columns: readonly Column[], rows: readonly (readonly Cell[])[]): void {
    const { width } = this
    for (const line of tableLines(columns, rows, { width, paintTitle: this.colours.bold })) this.line(line)
  }

  /** `key  value`, the keys dimmed and as wide as the longest. */
  facts(facts: readonly (readonly [key: string, value: string | undefined])[]): void {
    const known = facts.filter((fact): fact is [string, string] => fact[1] !== undefined)
    const wide = Math.max(...known.map(([key]) => displayWidth(key)))
    // A value must not begin a line: it would look like another fact.
    const nextLine = `\n${' '.repeat(wide + 2)}`
    for (const [key, value] of known)
      this.line(`${this.colours.dim(padTo(key, wide))}  ${value.replaceAll(LINE_ENDS, nextLine)}`)
  }

  /** Prints an error: one line for the message, one for the remedy. */
  failure(
    error: Pick<ReeveError, 'message' | 'remedy'> & { readonly code?: string; readonly details?: unknown },
  ): void {
    const { code, message, details } = error
    const remedy = hintFor(this.#options, error.remedy)
    if (this.isJson) {
      this.#around.stderr.write(`${neutralJson(toWire({ error: { code, message, remedy, details } }))}\n`)
      return
    }
    const { red } = coloursFor(this.#around.stderr, this.#around.env, this.#options.color)
    const said = neutral(message)
    this.#around.stderr.write(code === 'usage' ? `${said}\n` : `${red('reeve:')} ${said}\n`)
    const todo = hintFor(
      this.#options,
      remedyFor({ ...(code === undefined ? {} : { code }), remedy: error.remedy, details }),
    )
    if (todo !== '') this.#around.stderr.write(`${neutral(todo)}\n`)
  }
}
