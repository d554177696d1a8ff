import { styleText } from 'node:util'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Proof } from './proofs.ts'

type Style = Parameters<typeof styleText>[0]

/** The actors of the story: this program, the worker, the agent, the kill, or a command. */
const VOICES = {
  here: 'cyan',
  worker: 'magenta',
  agent: 'magenta',
  kill: 'red',
  build: 'yellow',
  count: 'yellow',
} as const

const COLOURS: Readonly<Record<string, Style>> = {
  completed: 'green',
  abandoned: 'yellow',
  cancelled: 'cyan',
  failed: 'red',
}

/** Prints the demo: plain text of at most 80 columns, with colours on a terminal. */
export class Screen {
  readonly #stream: NodeJS.WriteStream
  readonly #begun = performance.now()
  #isOver = false

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream
    // A reader that is gone (`| head`) must not prevent the cleanup of files.
    stream.on('error', () => {})
  }

  /** Nothing is printed after this. */
  end(): void {
    this.#isOver = true
  }

  line(text = ''): void {
    if (this.#isOver) return
    this.#stream.write(`${text}\n`)
  }

  heading(text: string): void {
    this.line()
    this.line(this.#style('bold', text))
  }

  /** One line of the story, with the time since the demo began. */
  say(who: keyof typeof VOICES, text: string): void {
    const seconds = ((performance.now() - this.#begun) / 1_000).toFixed(2)
    const voice = this.#style(VOICES[who], who.padEnd(6))
    this.line(`  ${this.#style('dim', `${seconds.padStart(5)} s`)}  ${voice}  ${text}`)
  }

  /** The screen of another terminal, below a line of the story. */
  terminal(lines: readonly string[]): void {
    for (const line of lines) this.line(`${' '.repeat(19)}${this.#style('dim', '│')} ${line}`)
  }

  /** The processes as a tree. `ranIn` names the kernels that executed one; siblings with the same outcome share a line. */
  tree(records: readonly ProcessRecord[], ranIn: (record: ProcessRecord) => string): void {
    const print = (parent: string | null, indent: string) => {
      const families = grouped(
        records.filter((record) => record.parent === parent),
        (record) =>
          `${record.spec['tool'] ?? record.pid} ${record.status} ${record.children > 0 ? record.pid : ''} ${ranIn(record)}`,
      )
      for (const [index, family] of families.entries()) {
        const [first] = family
        if (first === undefined) continue
        const last = index === families.length - 1
        const branch = parent === null ? '' : last ? '└─ ' : '├─ '
        const name = `${indent}${branch}${nameOf(family)}`
        const status = this.#style(COLOURS[first.status] ?? 'reset', first.status.padEnd(10))
        this.line(
          `  ${name.padEnd(24)}${status}  ${this.#style('dim', first.recovery.padEnd(11))} ${ranIn(first)}`,
        )
        print(first.pid, parent === null ? '' : `${indent}${last ? '   ' : '│  '}`)
      }
    }
    const header = `${'process'.padEnd(24)}${'outcome'.padEnd(12)}${'recovery'.padEnd(12)}executed by`
    this.line(`  ${this.#style('dim', header)}`)
    print(null, '')
  }

  proof({ holds, text, missing }: Proof): void {
    this.line(`  ${holds ? this.#style('green', '✓') : this.#style('red', '✗')} ${text}`)
    for (const one of holds ? [] : missing.slice(0, 5)) this.line(`      ${one}`)
  }

  verdict(holds: boolean, text: string): void {
    this.line()
    this.line(this.#style(['bold', holds ? 'green' : 'red'], text))
  }

  #style(style: Style, text: string): string {
    // Honours the stream, NO_COLOR and FORCE_COLOR.
    return styleText(style, text, { stream: this.#stream })
  }
}

function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[][] {
  return [...Map.groupBy(items, keyOf).values()]
}

/** `check 1`, `check 3` and `check 5` are `check 1 3 5`. */
function nameOf(family: readonly ProcessRecord[]): string {
  const [first, ...rest] = family.map(({ identity }) => identity.label)
  return [first, ...rest.map((label) => label.slice(label.lastIndexOf(' ') + 1))].join(' ')
}
