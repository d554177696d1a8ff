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

/** More would be a flood rather than a word beside the answer. */
const MAX_HELD = 20

/** What goes to standard output and error: tables and colours for people, JSON for programs. */
export class Printer {
  readonly colours: Colours
  readonly #around: Surroundings
  readonly #options: GlobalOptions
  /** Asides that wait until the screen is free for them; null while it is. */
  #held: string[] | null = null

  constructor(around: Surroundings, options: GlobalOptions) {
    this.#around = around
    this.#options = options
    this.colours = coloursFor(around.stdout, around.env, options.color)
  }

  /** The same for another standard output. */
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

  /** Texts of others are in it: of their escape sequences only colours are passed on. */
  line(text = ''): void {
    this.#around.stdout.write(`${neutral(text)}\n`)
  }

  /** As it is, escape sequences too: for who asked for that. */
  rawLine(text: string): void {
    this.#around.stdout.write(`${text}\n`)
  }

  /** Beside the answer, for a person. */
  aside(text: string): void {
    if (this.#held !== null) {
      this.#held = [...this.#held, text].slice(-MAX_HELD)
      return
    }
    const { dim } = coloursFor(this.#around.stderr, this.#around.env, this.#options.color)
    this.#around.stderr.write(`${dim(`reeve: ${neutral(hintFor(this.#options, text))}`)}\n`)
  }

  /** From now on asides wait: they would tear what is shown on the whole screen. They are said when that is over. */
  holdAsides(): () => void {
    this.#held = []
    return () => {
      const held = this.#held ?? []
      this.#held = null
      for (const text of held) this.aside(text)
    }
  }

  /** One answer: a JSON text over several lines, or on one with `--jsonl`. */
  json(value: unknown): void {
    this.#jsonText(value, this.#options.jsonl ? undefined : 2)
  }

  /** Many of a kind: a JSON array, or a line for each. */
  jsonList(values: readonly unknown[]): void {
    if (this.#options.jsonl) for (const value of values) this.#jsonText(value)
    else this.#jsonText(values, 2)
  }

  /** As they come: always a line for each. */
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
    for (const [key, value] of known) this.line(`${this.colours.dim(padTo(key, wide))}  ${value}`)
  }

  /** One line what is wrong, one what to do. */
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
