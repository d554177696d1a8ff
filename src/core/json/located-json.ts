import type { Json } from './json.ts'

/** JSON from a file that people write: a message about a value can name its line. */
export interface LocatedJson {
  readonly type: 'json'
  readonly value: Json
  /** The line of a value; of its nearest parent if there is no such value. The first line is 1. */
  readonly lineOf: (path: JsonPath) => number
}

export interface JsonProblem {
  readonly type: 'problem'
  readonly line: number
  readonly message: string
}

export type JsonPath = readonly (string | number)[]

/** Deeper than any file that people write, and far from the end of the stack. */
const MAX_DEPTH = 64

/** Parses JSON. A key that occurs twice in an object is a problem: readers would see one value, and programs use the other. */
export function parseLocated(text: string): LocatedJson | JsonProblem {
  const reader = new Reader(text)
  try {
    const value = reader.document()
    const { lines } = reader
    return { type: 'json', value, lineOf: (path) => lineIn(lines, path) }
  } catch (error) {
    if (!(error instanceof Misplaced)) throw error
    return { type: 'problem', line: 1 + lineEnds(text, 0, error.at), message: error.message }
  }
}

class Misplaced extends Error {
  readonly at: number

  constructor(message: string, at: number) {
    super(message)
    this.at = at
  }
}

const LITERALS: readonly (readonly [string, Json])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
]
const BLANK = /[ \t\r\n]*/y
const STRING = /"(?:[^"\\]|\\.)*"/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

class Reader {
  readonly #text: string
  #at = 0
  /** The offset up to which line ends are counted. It only grows. */
  #counted = { at: 0, line: 1 }
  readonly lines = new Map<string, number>()

  constructor(text: string) {
    this.#text = text
  }

  document(): Json {
    // Editors on some systems write one.
    if (this.#text.startsWith('\ufeff')) this.#at = 1
    const value = this.#value([])
    this.#blank()
    if (this.#at < this.#text.length) throw this.#unexpected('the end of the file')
    return value
  }

  #value(path: JsonPath): Json {
    this.#blank()
    if (path.length > MAX_DEPTH) throw new Misplaced(`It is nested deeper than ${MAX_DEPTH}.`, this.#at)
    const key = JSON.stringify(path)
    if (!this.lines.has(key)) this.lines.set(key, this.#lineAt(this.#at))
    const next = this.#text[this.#at]
    if (next === '{') return this.#object(path)
    if (next === '[') return this.#array(path)
    if (next === '"') return this.#string()
    const literal = LITERALS.find(([word]) => this.#text.startsWith(word, this.#at))
    if (literal !== undefined) {
      this.#at += literal[0].length
      return literal[1]
    }
    const number = this.#match(NUMBER)
    if (number === undefined || number === '') throw this.#unexpected('a value')
    return Number(number)
  }

  #object(path: JsonPath): Json {
    const entries = new Map<string, Json>()
    this.#at++
    if (this.#takes('}')) return {}
    do {
      this.#blank()
      const at = this.#at
      if (this.#text[at] !== '"') throw this.#unexpected('a key in double quotes')
      const key = this.#string()
      if (entries.has(key)) throw new Misplaced(`The key ${JSON.stringify(key)} occurs twice.`, at)
      this.lines.set(JSON.stringify([...path, key]), this.#lineAt(at))
      if (!this.#takes(':')) throw this.#unexpected('a colon')
      entries.set(key, this.#value([...path, key]))
    } while (this.#takes(','))
    if (!this.#takes('}')) throw this.#unexpected('a comma or }')
    return Object.fromEntries(entries)
  }

  #array(path: JsonPath): Json {
    const items: Json[] = []
    this.#at++
    if (this.#takes(']')) return items
    do items.push(this.#value([...path, items.length]))
    while (this.#takes(','))
    if (!this.#takes(']')) throw this.#unexpected('a comma or ]')
    return items
  }

  #string(): string {
    const at = this.#at
    const text = this.#match(STRING)
    try {
      return JSON.parse(text ?? '') as string
    } catch {
      throw new Misplaced('A text is not closed, or has a wrong escape.', at)
    }
  }

  #lineAt(at: number): number {
    const line = this.#counted.line + lineEnds(this.#text, this.#counted.at, at)
    this.#counted = { at, line }
    return line
  }

  #takes(sign: string): boolean {
    this.#blank()
    if (this.#text[this.#at] !== sign) return false
    this.#at++
    return true
  }

  #blank(): void {
    this.#match(BLANK)
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    this.#at += found?.length ?? 0
    return found
  }

  #unexpected(wanted: string): Misplaced {
    const found = this.#text[this.#at]
    const what = found === undefined ? 'the file ends' : `there is ${JSON.stringify(found)}`
    return new Misplaced(`It needs ${wanted} here, and ${what}.`, this.#at)
  }
}

function lineIn(lines: ReadonlyMap<string, number>, path: JsonPath): number {
  for (let length = path.length; length >= 0; length--) {
    const line = lines.get(JSON.stringify(path.slice(0, length)))
    if (line !== undefined) return line
  }
  return 1
}

function lineEnds(text: string, from: number, to: number): number {
  let count = 0
  for (let index = from; index < to; index++) if (text.charCodeAt(index) === 0x0a) count++
  return count
}
