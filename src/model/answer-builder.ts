import { isObject } from '../base/is-object.ts'
import { nearestName } from '../base/nearest-name.ts'
import type { Json, JsonObject } from '../core/json/json.ts'
import { callIdsIn } from '../core/model/check-prompt.ts'
import type { AssistantPart, ModelRequest, ProviderData, ToolCallProblem } from '../core/model/prompt.ts'
import type { CallOptions, Fragment } from './model.ts'
import { parseArguments } from './parse-arguments.ts'

/** Characters of one answer. The longest outputs of models have about half a million; more is a defect of the server. */
const MAX_ANSWER_CHARS = 4 * 1024 * 1024
/** Parts of one answer, tool calls included. */
const MAX_PARTS = 512
/** Of malformed arguments so much is kept, for the error that the model is shown. */
const MAX_MALFORMED_CHARS = 1_000
const MAX_TOOL_NAME_CHARS = 128
/** The tool that finds those which a prompt does not declare. */
const TOOL_SEARCH = 'tool_search'
/** Longer ids, and those with blanks or control characters, are replaced. */
const USABLE_ID = /^[!-~]{1,200}$/

/** The answer is larger than any answer of a model should be. */
export class AnswerTooLarge extends Error {
  constructor() {
    super(`The answer has more than ${MAX_ANSWER_CHARS} characters or ${MAX_PARTS} parts.`)
  }
}

type TextType = 'text' | 'reasoning'

interface Draft {
  readonly key: string
  readonly index: number
  part: AssistantPart
  readonly pieces: string[]
  isComplete: boolean
  /** Of a call: whether its arguments had any text. */
  hasArguments: boolean
  /** The first half of a surrogate pair, until its second half arrives. */
  heldBack: string
}

/**
 * Builds the parts of one answer from its events, in the order in which they began. It repairs call ids, parses arguments, and bounds the
 * size; every kind of model uses it, so all answers obey the same rules.
 */
export class AnswerBuilder {
  readonly #drafts: Draft[] = []
  readonly #open = new Map<string, Draft>()
  readonly #onFragment: ((fragment: Fragment) => void) | undefined
  readonly #tools: readonly string[]
  readonly #usedIds: Set<string>
  readonly #callIds = new Map<string, string>()
  #chars = 0
  hasBegun = false

  constructor({ prompt, tools }: ModelRequest, { onFragment }: CallOptions) {
    this.#onFragment = onFragment
    this.#tools = tools.map(({ name }) => name)
    this.#usedIds = callIdsIn(prompt)
  }

  begin(type: TextType, id: string, providerData?: ProviderData): void {
    const part = { type, text: '', ...(providerData !== undefined && { providerData }) }
    this.#start(`${type}:${id}`, part)
    this.#count(sizeOfData(providerData))
  }

  append(type: TextType, id: string, text: string, providerData?: ProviderData): void {
    const key = `${type}:${id}`
    if (!this.#open.has(key)) this.begin(type, id)
    const draft = this.#open.get(key)
    if (draft === undefined) return
    this.#count(text.length + sizeOfData(providerData))
    draft.pieces.push(text)
    mergeData(draft, providerData)
    const shown = withoutHalfPair(draft, text)
    if (shown !== '')
      this.#emit({ type: type === 'text' ? 'text' : 'thinking', part: draft.index, text: shown })
  }

  end(type: TextType, id: string, providerData?: ProviderData): void {
    const draft = this.#open.get(`${type}:${id}`)
    if (draft === undefined) return
    this.#count(sizeOfData(providerData))
    mergeData(draft, providerData)
    draft.isComplete = true
    this.#open.delete(draft.key)
  }

  beginCall(id: string, name: string): void {
    const tool = toolName(name)
    const callId = this.#callIdFor(id)
    const draft = this.#start(`call:${id}`, { type: 'tool_call', callId, tool, input: {} })
    this.#emit({ type: 'tool_arguments', part: draft.index, callId, tool, text: '' })
  }

  appendArguments(id: string, text: string): void {
    const draft = this.#open.get(`call:${id}`)
    if (draft?.part.type !== 'tool_call' || text === '') return
    this.#count(text.length)
    const { callId, tool } = draft.part
    const shown = withoutHalfPair(draft, text)
    if (shown !== '') this.#emit({ type: 'tool_arguments', part: draft.index, callId, tool, text: shown })
  }

  /** The whole call, whether it began before or not. */
  call({ id, tool: name, text, isProviderExecuted, providerData }: WholeCall): void {
    const tool = toolName(name)
    if (!this.#open.has(`call:${id}`)) this.beginCall(id, tool)
    const draft = this.#open.get(`call:${id}`)
    if (draft?.part.type !== 'tool_call') return
    this.#count(text.length + sizeOfData(providerData))
    const { input, problem } = this.#parse(tool, text, isProviderExecuted === true)
    draft.part = {
      type: 'tool_call',
      callId: draft.part.callId,
      tool,
      input,
      ...(problem !== undefined && { problem }),
      ...(isProviderExecuted === true && { isProviderExecuted }),
      ...(providerData !== undefined && { providerData }),
    }
    draft.isComplete = true
    draft.hasArguments = text.trim() !== ''
    this.#open.delete(draft.key)
  }

  providerResult(result: {
    readonly id: string
    readonly tool: string
    readonly result: Json
    readonly isError: boolean
    readonly providerData?: ProviderData
  }): void {
    const { id, tool, ...rest } = result
    this.#count(JSON.stringify(result.result).length + sizeOfData(result.providerData))
    this.#startComplete({
      type: 'provider_result',
      callId: this.#callIds.get(id) ?? id.toWellFormed(),
      tool: toolName(tool),
      ...rest,
    })
  }

  opaque(kind: string, providerData?: ProviderData): void {
    this.#count(sizeOfData(providerData))
    this.#startComplete({ type: 'opaque', kind, ...(providerData !== undefined && { providerData }) })
  }

  /** All parts of a whole answer. Parts without an end are taken as they are; calls without arguments never became calls. */
  whole(): readonly AssistantPart[] {
    return this.#drafts.flatMap((draft) =>
      draft.part.type === 'tool_call' && !draft.isComplete ? [] : finished(draft),
    )
  }

  /**
   * The parts of a broken answer that can be used. Text counts as far as it came. Reasoning without its end has no signature. Calls must be
   * whole: at the end of a stream, providers hand out half calls as whole ones, but half an object is never JSON. Only a call without any
   * arguments stays in doubt, and is left out too: the model repeats it. A model cannot continue reasoning alone.
   */
  complete(): readonly AssistantPart[] {
    const parts = this.#drafts.flatMap((draft): AssistantPart[] => {
      if (draft.part.type === 'text') return finished(draft)
      if (!draft.isComplete) return []
      const isDoubtful =
        draft.part.type === 'tool_call' && (!draft.hasArguments || draft.part.problem?.type === 'malformed')
      return isDoubtful ? [] : finished(draft)
    })
    return parts.some(({ type }) => type === 'text' || type === 'tool_call') ? parts : []
  }

  #start(key: string, part: AssistantPart): Draft {
    if (this.#drafts.length >= MAX_PARTS) throw new AnswerTooLarge()
    const index = this.#drafts.length
    const draft = { key, index, part, pieces: [], isComplete: false, hasArguments: false, heldBack: '' }
    this.#drafts.push(draft)
    this.#open.set(key, draft)
    return draft
  }

  #startComplete(part: AssistantPart): void {
    this.#begun()
    const draft = this.#start(`whole:${this.#drafts.length}`, part)
    draft.isComplete = true
    this.#open.delete(draft.key)
  }

  /** The first content counts, and not the announcement of a part that may stay empty. */
  #begun(): void {
    if (this.hasBegun) return
    this.hasBegun = true
    this.#onFragment?.({ type: 'begun' })
  }

  #emit(fragment: Fragment): void {
    this.#begun()
    this.#onFragment?.(fragment)
  }

  #count(chars: number): void {
    this.#chars += chars
    if (this.#chars > MAX_ANSWER_CHARS) throw new AnswerTooLarge()
  }

  /** Some servers send no id, or the same ids in each answer. The id must be unique in the prompt, and the same after a replay. */
  #callIdFor(id: string): string {
    const wanted = USABLE_ID.test(id) ? id : 'call'
    let callId = wanted
    for (let number = 2; this.#usedIds.has(callId); number++) callId = `${wanted}-${number}`
    this.#usedIds.add(callId)
    this.#callIds.set(id, callId)
    return callId
  }

  #parse(
    tool: string,
    text: string,
    isProviderExecuted: boolean,
  ): { readonly input: JsonObject; readonly problem?: ToolCallProblem } {
    const parsed = parseArguments(text)
    if (parsed.type === 'malformed') {
      const message = `The arguments of ${tool} cannot be used: ${parsed.message}`
      return {
        input: {},
        problem: { type: 'malformed', message, text: text.slice(0, MAX_MALFORMED_CHARS).toWellFormed() },
      }
    }
    if (isProviderExecuted || this.#tools.includes(tool)) return { input: parsed.input }
    const meant = nearestName(tool, this.#tools)
    const hint = meant === undefined ? '' : ` Did you mean ${meant}?`
    const search = this.#tools.includes(TOOL_SEARCH) ? ` ${TOOL_SEARCH} finds further tools.` : ''
    return {
      input: parsed.input,
      problem: { type: 'unknown_tool', message: `There is no tool ${tool} in this prompt.${hint}${search}` },
    }
  }
}

interface WholeCall {
  readonly id: string
  readonly tool: string
  /** The arguments as JSON text. */
  readonly text: string
  readonly isProviderExecuted?: boolean
  readonly providerData?: ProviderData
}

function finished({ part, pieces }: Draft): AssistantPart[] {
  if (part.type !== 'text' && part.type !== 'reasoning') return [part]
  const text = pieces.join('').toWellFormed()
  return text === '' && part.providerData === undefined ? [] : [{ ...part, text }]
}

/** A name is data of the provider, too. */
function toolName(name: string): string {
  return name.slice(0, MAX_TOOL_NAME_CHARS).toWellFormed()
}

/** A fragment never ends inside a character. */
function withoutHalfPair(draft: Draft, text: string): string {
  const whole = draft.heldBack + text
  const last = whole.charCodeAt(whole.length - 1)
  const isHalf = last >= 0xd800 && last <= 0xdbff
  draft.heldBack = isHalf ? whole.slice(-1) : ''
  return (isHalf ? whole.slice(0, -1) : whole).toWellFormed()
}

function mergeData(draft: Draft, providerData: ProviderData | undefined): void {
  if (providerData === undefined || (draft.part.type !== 'text' && draft.part.type !== 'reasoning')) return
  const before = draft.part.providerData ?? {}
  const merged = Object.entries(providerData).map(([provider, data]): [string, Json] => {
    const earlier = before[provider]
    return [provider, isObject(earlier) && isObject(data) ? { ...earlier, ...data } : data]
  })
  draft.part = { ...draft.part, providerData: { ...before, ...Object.fromEntries(merged) } }
}

function sizeOfData(providerData: ProviderData | undefined): number {
  return providerData === undefined ? 0 : JSON.stringify(providerData).length
}
