import type { UpdateStep } from '../../core/agent/act.ts'
import type { Part } from '../../core/agent/state.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { mapStrings } from '../../core/json/map-strings.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import { type ProgramUpdate, type ToolUpdate, toolUpdate } from './program-update.ts'

/** Text that is held back at most: then it is an entry, although more of it follows. */
const MAX_TEXT_CHARS = 8_000
/** Tool calls that may be open at once. The log leaves further ones out. */
const MAX_OPEN = 100
const NO_RESULT = 'The program reported no result.'
const INTERRUPTED = 'Interrupted; its effect is unverified, check before repeating.'

/** A call that its program has announced and not described yet: its input may be still streaming. */
interface DraftTool {
  readonly id: string
  readonly tool: string
  readonly input: JsonObject
}

interface OpenTool {
  readonly call: number
  readonly index: number
  output: string
}

/** Collects the steps of a turn until they are written. Pieces of a text are one step. */
export class TurnSteps {
  readonly #mask: (text: string) => string
  readonly #open = new Map<string, OpenTool>()
  readonly #ended = new Set<string>()
  #steps: UpdateStep[] = []
  #text: { readonly type: 'text' | 'thinking'; text: string } | null = null
  #draft: DraftTool | null = null
  #call: number
  #nextIndex = 0
  #plans = 0
  #hasResults = false

  constructor({ agent }: ProcessRecord, mask: (text: string) => string) {
    this.#mask = mask
    const turn = agent?.turn ?? null
    this.#call = turn?.calls ?? 0
    for (const { call, index, callId } of turn?.tools ?? [])
      this.#open.set(callId, { call, index, output: '' })
  }

  /** The model call that the next steps belong to. */
  get call(): number {
    return this.#call
  }

  /** All tools of the call have results: what comes now is another answer of the model behind the program. */
  get beginsCall(): boolean {
    return this.#hasResults && this.#open.size === 0 && this.#draft === null
  }

  isNew({ id, begins }: ToolUpdate): boolean {
    return begins && !this.#open.has(id) && !this.#ended.has(id)
  }

  nextCall(): void {
    this.#beginDraft()
    this.#endText()
    this.#steps.push({ type: 'next_call' })
    this.#call += 1
    this.#nextIndex = 0
    this.#hasResults = false
  }

  /** Whether the text is to be written now. */
  say({ type, text }: { readonly type: 'text' | 'thinking'; readonly text: string }): boolean {
    this.#beginDraft()
    if (this.#text?.type !== type) {
      this.#endText()
      this.#text = { type, text: '' }
    }
    this.#text.text += text
    return this.#text.text.length >= MAX_TEXT_CHARS
  }

  /** Whether there is something to write now. */
  take(update: Exclude<ProgramUpdate, { type: 'text' | 'thinking' | 'cost' | 'other' }>): boolean {
    if (update.type === 'plan') {
      this.#beginDraft()
      const id = `plan:${this.#call}.${this.#plans++}`
      this.#begin(id, 'plan', {})
      this.#end(id, update.text, false)
      return true
    }
    return this.#tool(update)
  }

  #tool(update: ToolUpdate): boolean {
    const { id, tool = 'other', input, output, state } = update
    const begun = this.#beginDraft(update)
    const isNew = begun || this.isNew(update)
    if (isNew && !begun) {
      if (this.#open.size >= MAX_OPEN) return false
      if (update.isPending) {
        this.#draft = { id, tool, input }
        return false
      }
      this.#begin(id, tool, input)
    }
    const open = this.#open.get(id)
    if (open !== undefined && output !== undefined) open.output = output
    if (state !== 'open') this.#end(id, open?.output ?? '', state === 'failed')
    return isNew || (open !== undefined && state !== 'open')
  }

  /** The call that a permission is for; it begins with the request, if it has not begun before. */
  callOf(given: JsonObject): {
    readonly ref: Pick<OpenTool, 'call' | 'index'> | null
    readonly isNew: boolean
  } {
    const update = toolUpdate(given, true)
    if (update.type !== 'tool') return { ref: null, isNew: false }
    const begun = this.#beginDraft(update)
    const isNew = begun || this.isNew(update)
    if (isNew && !begun && this.#open.size < MAX_OPEN)
      this.#begin(update.id, update.tool ?? 'other', update.input)
    const open = this.#open.get(update.id)
    return { ref: open === undefined ? null : { call: open.call, index: open.index }, isNew }
  }

  /** Whether the update is about the call that was announced; another one finds it as it was announced. */
  #beginDraft(update?: ToolUpdate): boolean {
    const draft = this.#draft
    this.#draft = null
    if (draft === null) return false
    const isAbout = update?.id === draft.id
    const told = isAbout ? update : { tool: undefined, input: {} }
    this.#begin(draft.id, told.tool ?? draft.tool, { ...draft.input, ...told.input })
    return isAbout
  }

  #begin(callId: string, tool: string, input: JsonObject): void {
    this.#endText()
    const index = this.#nextIndex++
    const masked = mapStrings(input, this.#mask)
    const part: Part = { type: 'tool_call', callId, tool, input: masked }
    this.#steps.push({ type: 'tool_call', index, callId, tool, parts: [part] })
    this.#open.set(callId, { call: this.#call, index, output: '' })
  }

  #end(callId: string, output: string, isError: boolean): void {
    if (!this.#open.delete(callId)) return
    this.#ended.add(callId)
    this.#endText()
    const text = output === '' ? (isError ? 'failed' : 'completed') : output
    this.#steps.push({ type: 'result', callId, parts: [{ type: 'text', text: this.#mask(text) }], isError })
    this.#hasResults = true
  }

  /** The steps so far, with the text that has come. */
  drain(): readonly UpdateStep[] {
    this.#beginDraft()
    this.#endText()
    const steps = this.#steps
    this.#steps = []
    return steps
  }

  /** The last steps: calls that are still open get a result. */
  finish(isCut = false): readonly UpdateStep[] {
    this.#beginDraft()
    const text = this.#text
    this.#text = null
    for (const callId of [...this.#open.keys()]) this.#end(callId, isCut ? INTERRUPTED : NO_RESULT, isCut)
    this.#text = text
    return this.drain()
  }

  #endText(): void {
    const said = this.#text
    this.#text = null
    if (said === null) return
    const part: Part = { type: said.type === 'text' ? 'text' : 'reasoning', text: said.text }
    this.#steps.push({ type: 'item', parts: [part] })
  }
}
