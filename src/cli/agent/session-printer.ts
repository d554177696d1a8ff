import { isObject } from '../../base/is-object.ts'
import type { AgentFollowed } from '../../verbs/follow-calls.ts'
import type { OutputOf } from '../../verbs/reeve.ts'
import { putBackLines, rewoundText } from '../../verbs/rewound-text.ts'
import { neutral } from '../print/neutral.ts'
import type { Printer } from '../print/printer.ts'
import { ago } from '../print/times.ts'
import { MarkdownStream } from './markdown-stream.ts'
import { costText, tokenCount } from './print-agents.ts'
import { missedGoal } from './turn-text.ts'

type Item = OutputOf<'agentLog'>['items'][number]
type Part = Extract<Item, { type: 'assistant_item' }>['payload']['parts'][number]
type TurnEnd = Extract<Item, { type: 'turn_ended' }>['payload']
type Kind = 'text' | 'thinking'

/** Text of one kind in one model call: as far as it was printed while it arrived, and as far as entries have it. */
interface Said {
  printed: string
  entered: string
}

/** The usage of the model calls of a turn, as far as their entries were seen. */
interface Used {
  calls: number
  tokens: number
  cost: number | null
  unpriced: number
}

/** Characters of the input and of the result of a tool call that one line shows. */
const MAX_CALL_CHARS = 100
/** Arguments of tools that say most about a call. They are shown without their names. */
const MAIN_ARGUMENTS = ['path', 'command', 'url', 'question', 'text']

/** Prints a session for people, as it happens: text as it streams, one line for each tool call and its result. */
export class SessionPrinter {
  readonly #print: Printer
  readonly #write: (text: string) => void
  readonly #markdown: MarkdownStream
  /** The text that is being printed: its call and its kind. */
  #flowing: string | null = null
  readonly #said = new Map<string, Said>()
  readonly #used = new Map<number, Used>()
  readonly #tools = new Map<string, string>()
  /** The inputs of the turn. */
  #taken: string[] = []
  /** Inputs that the person typed after the prompt sign: they are on the screen. */
  readonly #typed = new Set<string>()
  #isLineStart = true
  #isPrompting = false

  constructor(print: Printer, write: (text: string) => void) {
    this.#print = print
    this.#write = write
    this.#markdown = new MarkdownStream(print.colours)
  }

  show(followed: AgentFollowed): void {
    switch (followed.type) {
      case 'snapshot':
        this.#earlierAlerts(followed.page)
        for (const item of followed.page.items) this.item(item)
        break
      case 'item':
        this.item(followed.item)
        break
      case 'fragment':
        this.#fragment(followed)
        break
      case 'gap':
      case 'state':
      case 'ended':
        break
    }
  }

  item(item: Item): void {
    const { dim, yellow, red, green, cyan } = this.#print.colours
    switch (item.type) {
      case 'input_promoted':
        this.#taken.push(textOf(item.payload.parts))
        if (!this.#typed.delete(item.payload.input)) this.line(green(`› ${textOf(item.payload.parts)}`))
        break
      case 'notices_promoted':
        this.line(dim(`notice: ${oneLine(textOf(item.payload.parts))}`))
        break
      case 'assistant_item':
        this.#answer(item.payload)
        break
      case 'tool_called': {
        const { callId, tool, parts } = item.payload
        this.#tools.set(callId, tool)
        this.line(`${cyan(`→ ${tool}`)} ${dim(inputText(parts))}`)
        break
      }
      case 'tool_answered': {
        const { callId, parts, isError } = item.payload
        const tool = this.#tools.get(callId)
        this.#tools.delete(callId)
        // Several calls run at once: a result that follows another call says whose it is.
        const whose = this.#tools.size > 0 && tool !== undefined ? `${tool}: ` : ''
        const text = oneLine(`${whose}${textOf(parts)}`)
        this.line(isError ? red(`  ✗ ${text}`) : dim(`  ${text}`))
        break
      }
      case 'model_used':
        this.#count(item.payload)
        break
      case 'model_call_cut':
        // The end of the turn says it.
        if (item.payload.why !== 'setup_failed') this.line(dim(cutText(item.payload.why)))
        this.#forget(item.payload)
        break
      case 'model_call_retried':
        this.line(dim(`(the model did not answer: ${oneLine(item.payload.failure)}; trying again)`))
        this.#forget(item.payload)
        break
      case 'agent_alerted':
        this.line(yellow(`! ${item.payload.message}`))
        break
      case 'agent_failed':
        this.line(red(`! ${item.payload.message}`))
        break
      case 'session_continued':
        this.line(dim(`(the session ${originOf(item.payload)})`))
        break
      case 'session_rewound':
        this.line(dim(`(${rewoundText(item.payload)})`))
        break
      case 'files_put_back':
        for (const line of putBackLines(item.payload)) this.line(dim(`(${line})`))
        break
      case 'agent_configured': {
        const { model, effort } = item.payload
        this.line(
          dim(`(the model is ${model} from here on${effort === undefined ? '' : `, effort ${effort}`})`),
        )
        break
      }
      case 'segment_begun':
        if (item.payload.why === 'compaction') this.line(dim('(the session was summarised)'))
        break
      case 'turn_ended':
        this.#turnEnded(item.payload)
        break
      default:
        break
    }
  }

  /** Ends the line that is being written. */
  endLine(): void {
    const rest = this.#markdown.end()
    this.#write(this.#isLineStart && rest === '' ? '' : `${rest}\n`)
    this.#isLineStart = true
    this.#isPrompting = false
    this.#flowing = null
  }

  line(text: string): void {
    this.endLine()
    this.#write(`${neutral(text)}\n`)
  }

  /** Shows the prompt, once: until something else is printed or typed. */
  prompt(sign = '› '): void {
    if (this.#isPrompting) return
    this.endLine()
    this.#write(this.#print.colours.green(sign))
    this.#isLineStart = false
    this.#isPrompting = true
  }

  /** The person has typed a line, which the terminal has shown. Returns whether it stands after the prompt sign. */
  typed(): boolean {
    const wasPrompting = this.#isPrompting
    this.#isLineStart = true
    this.#isPrompting = false
    return wasPrompting
  }

  /** The terminal has shown ^C. */
  interrupted(): void {
    this.#isLineStart = false
  }

  /** This input is on the screen as it was typed. */
  leaveOut(input: string): void {
    this.#typed.add(input)
  }

  #fragment({ turn, call, stream, text }: Extract<AgentFollowed, { type: 'fragment' }>): void {
    if ((stream !== 'text' && stream !== 'thinking') || text === '') return
    const key = `${turn}.${call}.${stream}`
    this.#saidIn(key).printed += text
    this.#flow(key, stream, text)
  }

  /** The entries have all of the text: the part that was not printed yet follows. */
  #answer({ turn, call, parts }: Extract<Item, { type: 'assistant_item' }>['payload']): void {
    for (const part of parts) {
      const kind: Kind = part.type === 'reasoning' ? 'thinking' : 'text'
      const key = `${turn}.${call}.${kind}`
      const said = this.#saidIn(key)
      said.entered += textOf([part])
      if (said.entered.length <= said.printed.length) continue
      const isSame = said.entered.startsWith(said.printed)
      const rest = isSame ? said.entered.slice(said.printed.length) : said.entered
      if (!isSame) this.endLine()
      said.printed = said.entered
      this.#flow(key, kind, rest)
    }
  }

  #flow(key: string, kind: Kind, text: string): void {
    if (this.#flowing !== key) this.endLine()
    this.#flowing = key
    const shown = neutral(text)
    this.#write(kind === 'text' ? this.#markdown.push(shown) : this.#print.colours.dim(shown))
    this.#isLineStart = text.endsWith('\n')
  }

  #saidIn(key: string): Said {
    const known = this.#said.get(key)
    if (known !== undefined) return known
    const said = { printed: '', entered: '' }
    this.#said.set(key, said)
    return said
  }

  /** The call is made again, and its text arrives from the beginning. */
  #forget({ turn, call }: { readonly turn: number; readonly call: number }): void {
    for (const kind of ['text', 'thinking']) this.#said.delete(`${turn}.${call}.${kind}`)
  }

  /** Alerts that are older than the part of the session that is shown. */
  #earlierAlerts({ record, items }: OutputOf<'agentLog'>): void {
    const from = items[0]?.seq ?? Number.POSITIVE_INFINITY
    for (const { seq, at, message } of record.agent?.alerts ?? [])
      if (seq < from) this.line(this.#print.colours.yellow(`! ${message} (${ago(at, Date.now())})`))
  }

  #count(entry: Extract<Item, { type: 'model_used' }>['payload']): void {
    if (entry.memory === true) return
    const used = this.#used.get(entry.turn) ?? { calls: 0, tokens: 0, cost: null, unpriced: 0 }
    this.#used.set(entry.turn, {
      calls: used.calls + 1,
      tokens: used.tokens + entry.inputTokens + entry.outputTokens,
      cost: entry.cost === null ? used.cost : (used.cost ?? 0) + entry.cost,
      unpriced: used.unpriced + (entry.cost === null ? 1 : 0),
    })
  }

  #turnEnded({ turn, reason, message, calls, ...ended }: TurnEnd): void {
    this.endLine()
    this.#said.clear()
    const used = this.#used.get(turn)
    this.#used.delete(turn)
    const { red, dim, yellow } = this.#print.colours
    const isAsWished = ['finished', 'cancelled', 'rolled_back', 'paused'].includes(reason)
    const facts = [`turn ${turn} ${reason.replaceAll('_', ' ')}`]
    if (calls > 0) facts.push(calls === 1 ? '1 model call' : `${calls} model calls`)
    // A session that is attached in the middle of a turn has seen a part of its usage.
    if (used !== undefined && used.calls >= calls) {
      facts.push(`${tokenCount(used.tokens)} tokens`, `cost ${costText(used)}`)
    }
    this.line((isAsWished ? dim : red)(`(${facts.join(', ')})`))
    const taken = this.#taken
    this.#taken = []
    if (reason === 'rolled_back' && taken.length > 0) {
      const removed = taken.map((text) => JSON.stringify(oneLine(text))).join(', ')
      this.line(
        yellow(
          `! Removed with the turn, before the model read it: ${removed}. Send it again if it still counts.`,
        ),
      )
    }
    if (message !== undefined) this.line(isAsWished ? dim(message) : message)
    const missed = missedGoal(ended)
    if (missed !== undefined) this.line(red(`! ${missed}`))
  }
}

/** A daemon that is gone costs an answer at most: the session goes on. */
function cutText(why: string): string {
  return why === 'holder lost'
    ? '(the daemon was restarted in the middle of this answer, and goes on)'
    : `(the answer was cut: ${oneLine(why)})`
}

/** The text of parts, as a person reads it: a pasted text is folded, and of a referenced file or a slash command its name is shown. */
export function textOf(parts: readonly Part[]): string {
  let hidden = 0
  return parts
    .flatMap((part, index) => {
      if (hidden > 0) {
        hidden -= 1
        return []
      }
      if (part.type === 'command') {
        const { name, arguments: text } = Object(part['given'])
        hidden = Number(part['parts'] ?? 0)
        return [`/${String(name)}${text === undefined ? '' : ` ${String(text)}`}`]
      }
      if (parts[index - 1]?.type === 'reference') return []
      if (part.type === 'paste') return [oneLine(String(part['text']))]
      if (typeof part['text'] === 'string') return [part['text']]
      if (part.type === 'json') return [JSON.stringify(part['value'])]
      if (part.type === 'reference') return [`@${String(part['path'])}`]
      return part.type === 'blob' ? ['(large content)'] : []
    })
    .join('\n')
}

/** The arguments of a tool call: the main one as it is, then the others as JSON. */
function inputText([part]: readonly Part[]): string {
  const input = part?.['input']
  if (!isObject(input)) return ''
  const main = MAIN_ARGUMENTS.find((name) => typeof input[name] === 'string')
  if (main === undefined) return oneLine(JSON.stringify(input))
  const { [main]: value, ...others } = input
  const rest = Object.keys(others).length === 0 ? '' : ` ${JSON.stringify(others)}`
  return oneLine(`${String(value)}${rest}`)
}

function oneLine(text: string): string {
  const [first = '', ...more] = text.trim().replaceAll('\t', '  ').split('\n')
  const cut = first.length > MAX_CALL_CHARS ? `${first.slice(0, MAX_CALL_CHARS - 1)}…` : first
  if (more.length === 0) return cut
  return `${cut} (+${more.length} ${more.length === 1 ? 'line' : 'lines'})`
}

/** Where a session comes from. */
function originOf({ earlier, fork }: Extract<Item, { type: 'session_continued' }>['payload']): string {
  const last = earlier.at(-1)?.pid
  return fork?.pid === last ? `branches from ${last} behind turn ${fork?.turn}` : `goes on from ${last}`
}
