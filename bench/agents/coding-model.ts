import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { excerpt, numbersOf, type RealText } from './real-text.ts'

/**
 * A session of a coding agent, as a model object of the AI SDK and the workspace that it works in. All texts are real ones, and follow from
 * the number of the turn.
 *
 * | of a turn                              | bytes                                                  |
 * | the input                              | 80 to 800                                              |
 * | 3 to 6 model calls with one tool call   |                                                        |
 * | … a sentence before the call, mostly   | 60 to 200                                              |
 * | … `read_file`, one to three times      | a source file of 1.5 to 12 kB, with line numbers       |
 * | … `search_files`, mostly               | up to 20 lines that match                              |
 * | … `edit_file`                          | a block of 200 to 1,000 bytes against another          |
 * | … `run_command`                        | 0.2 to 6 kB of output of a test run                    |
 * | the answer                             | 300 to 1,800                                           |
 */
const RUNS = 60
const SEARCHED = ['const row', 'async', 'readonly pid', 'yield', 'return null', 'throw new', 'edges.store']

export class CodingSession {
  readonly #text: RealText

  constructor(text: RealText) {
    this.#text = text
  }

  /** Makes the workspace as it is before the first turn. */
  makeWorkspace(folder: string): void {
    for (const name of ['src', 'runs']) mkdirSync(join(folder, name), { recursive: true })
    for (const [file, { name, text }] of this.#text.files.entries())
      writeFileSync(join(folder, 'src', name), `${text}\n${this.#block(file, 0)}\n`)
    for (let run = 0; run < RUNS; run++) writeFileSync(join(folder, `runs/${run}.txt`), this.#testRun(run))
  }

  inputOf(turn: number): string {
    const next = numbersOf(3_000_000 + turn)
    return `Task ${turn}: ${this.#prose(next, 80, 800)}`
  }

  /** Answers the newest task, step by step; and a request for a summary. */
  model() {
    return {
      specificationVersion: 'v4',
      provider: 'bench',
      modelId: 'coder',
      supportedUrls: {},
      doStream: async ({ prompt }: { readonly prompt: readonly Message[] }) => {
        const last = prompt.findLastIndex(
          ({ role, content }) => role === 'user' && taskIn(content) !== undefined,
        )
        const turn = taskIn(prompt[last]?.content ?? '')
        const step = prompt.slice(last + 1).filter(({ role }) => role === 'assistant').length
        return { stream: ReadableStream.from(this.#answer(turn, step)) }
      },
    }
  }

  #answer(turn: number | undefined, step: number): readonly object[] {
    const call = turn === undefined ? undefined : this.#callsOf(turn)[step]
    const next = numbersOf(5_000_000 + (turn ?? 0) * 10 + step)
    const reason = call === undefined ? 'stop' : 'tool-calls'
    const said =
      call === undefined ? this.#prose(next, 300, 1_800) : next() < 0.7 ? this.#prose(next, 60, 200) : ''
    return [
      ...(said === '' ? [] : textParts(said)),
      ...(call === undefined ? [] : [callPart(`call_${turn}_${step}`, call)]),
      { type: 'finish', finishReason: { unified: reason, raw: reason }, usage: USAGE },
    ]
  }

  /** The tool calls of a turn, one for each model call. */
  #callsOf(turn: number): readonly Call[] {
    const next = numbersOf(4_000_000 + turn)
    const { files } = this.#text
    const file = turn % files.length
    const version = Math.floor(turn / files.length)
    const path = (index: number) => `src/${files[index]?.name}`
    const read = (index: number): Call => ({ tool: 'read_file', input: { path: path(index) } })
    const edits = [{ oldText: this.#block(file, version), newText: this.#block(file, version + 1) }]
    const calls: Call[] = [
      read(file),
      { tool: 'edit_file', input: { path: path(file), edits } },
      { tool: 'run_command', input: { command: `cat runs/${Math.floor(next() * RUNS)}.txt` } },
    ]
    const more = Math.floor(next() * 4)
    const text = SEARCHED[turn % SEARCHED.length]
    if (more > 0) calls.unshift({ tool: 'search_files', input: { text, limit: 20 } })
    for (let count = 1; count < more; count++) calls.unshift(read(Math.floor(next() * files.length)))
    return calls
  }

  /** A block of code at the end of a file, which the turns replace. */
  #block(file: number, version: number): string {
    const next = numbersOf(1_000_000 + file * 1_000 + version)
    const code = this.#text.files[Math.floor(next() * this.#text.files.length)]?.text ?? ''
    return `// block ${file}.${version}\n${excerpt(code, next, 200 + Math.floor(next() * 800))}\n// end`
  }

  #testRun(run: number): string {
    const next = numbersOf(2_000_000 + run)
    const lines: string[] = []
    for (let left = 200 + next() ** 2 * 5_800; left > 0; left -= (lines.at(-1)?.length ?? 0) + 1)
      lines.push(
        ` ✓ test/part-${Math.floor(next() * 40)}.test.ts > ${this.#prose(next, 30, 80).replaceAll('\n', ' ')} ${Math.floor(next() * 900)}ms`,
      )
    return `${lines.join('\n')}\n`
  }

  #prose(next: () => number, least: number, most: number): string {
    return excerpt(this.#text.prose, next, least + Math.floor(next() ** 2 * (most - least)))
  }
}

interface Call {
  readonly tool: string
  readonly input: object
}

interface Message {
  readonly role: string
  readonly content: string | readonly { readonly type: string; readonly text?: string }[]
}

const USAGE = { inputTokens: { total: 40_000, cacheRead: 36_000 }, outputTokens: { total: 300 } }

/** The number of the task that a message gives; undefined if it gives none, such as a request for a summary. */
function taskIn(content: Message['content']): number | undefined {
  const text = typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('\n')
  const task = /^Task (\d+):/.exec(text)
  return task === null ? undefined : Number(task[1])
}

function textParts(delta: string): readonly object[] {
  return [
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta },
    { type: 'text-end', id: 't' },
  ]
}

function callPart(toolCallId: string, { tool, input }: Call): object {
  return { type: 'tool-call', toolCallId, toolName: tool, input: JSON.stringify(input) }
}
