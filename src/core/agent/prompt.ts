import type { Json } from '../json/json.ts'
import { parseModelId } from '../model/model-id.ts'
import type { AssistantPart, PromptItem, ToolDeclaration, ToolResult, UserPart } from '../model/prompt.ts'
import type { HiddenMedia } from '../model/shown-media.ts'
import type { AgentEntry } from './history.ts'
import { pasteText } from './input-part.ts'
import type { Part } from './state.ts'

/** The sources of a session's prompt. Parts are whole: no references to blobs. */
export interface PromptSource {
  /** Of the last segment, as `entriesOfSegment` returns them. */
  readonly entries: readonly AgentEntry[]
  /** The parts of the input or notice that the event with this `seq` has. */
  readonly partsAt: (seq: number) => readonly Part[]
  /** The model of a call. */
  readonly modelOf: (turn: number, call: number) => string | undefined
}

export interface SessionPrompt {
  /** Null before the first segment has begun. */
  readonly system: string | null
  readonly items: readonly PromptItem[]
  /** The tools that the session declares; null if none were declared yet. */
  readonly tools: readonly ToolDeclaration[] | null
  /** The sources of the system prompt and of its later changes; null if they are not known. */
  readonly sources: Json
  /** The pictures and documents that some models are not shown. */
  readonly hidden: readonly HiddenMedia[]
}

/** The part of an entry that hides the pictures and documents before it from a model. */
export function hiddenMediaPart(model: string): Part {
  return { type: HIDDEN_MEDIA, model }
}

const HIDDEN_MEDIA = 'hidden_media'

/**
 * The prompt of a session. It depends on the log alone, and a later log begins with the items of an earlier one: so each request has
 * the bytes of the one before as its prefix, also after a restart.
 */
export function promptOf({ entries, partsAt, modelOf }: PromptSource): SessionPrompt {
  const prompt = new PromptBuilder(modelOf)
  for (const entry of entries) {
    switch (entry.type) {
      case 'segment_begun':
        prompt.beginSegment(entry.payload.parts)
        break
      case 'input_promoted':
        prompt.push({ type: 'user', parts: userParts(partsAt(entry.payload.seq)) })
        break
      case 'notices_promoted': {
        const { seqs, more } = entry.payload
        const texts = seqs.map((seq) => textOf(partsAt(seq)))
        if (more > 0) texts.push(`(${more} more notices are in the log.)`)
        prompt.push({ type: 'note', text: texts.join('\n') })
        break
      }
      case 'system_item':
        prompt.readContext(entry.payload.parts)
        prompt.push({ type: 'note', text: textOf(entry.payload.parts) })
        prompt.hideMedia(entry.payload.parts)
        break
      case 'assistant_item':
        // An empty answer is in the log, and not in the prompt: providers refuse empty messages.
        if (entry.payload.parts.length > 0) prompt.say(entry.payload)
        break
      case 'tool_called':
        prompt.say(entry.payload)
        break
      case 'tool_answered':
        prompt.answer(entry.payload)
        break
      case 'turn_begun':
      case 'turn_ended':
      case 'model_call_cut':
        break
    }
  }
  return prompt.whole()
}

type PayloadOf<Type extends AgentEntry['type']> = Extract<AgentEntry, { type: Type }>['payload']

/** Joins the entries of one model call to one answer, and the results of its tool calls to one item, in the order of the calls. */
class PromptBuilder {
  readonly #modelOf: PromptSource['modelOf']
  readonly #items: PromptItem[] = []
  #system: string | null = null
  #tools: readonly ToolDeclaration[] | null = null
  #sources: Json = null
  readonly #hidden: HiddenMedia[] = []
  /** The parts of the answer that is being joined. */
  #said: { readonly turn: number; readonly call: number; readonly parts: AssistantPart[] } | null = null
  #results: { readonly index: number; readonly result: ToolResult }[] = []
  /** The tools of the calls of the last answer, by the ids of the calls. */
  readonly #called = new Map<string, string>()

  constructor(modelOf: PromptSource['modelOf']) {
    this.#modelOf = modelOf
  }

  beginSegment(parts: readonly Part[]): void {
    this.readContext(parts)
    this.#system = textOf(parts.filter(({ type }) => type === 'system'))
    const summary = textOf(parts.filter(({ type }) => type === 'summary'))
    if (summary !== '') this.push({ type: 'note', text: summary })
  }

  readContext(parts: readonly Part[]): void {
    for (const part of parts) {
      if (part.type === 'tools') this.#tools = declarationsIn(part)
      if (part.type === 'sources') this.#sources = part
    }
  }

  hideMedia(parts: readonly Part[]): void {
    for (const { type, model } of parts)
      if (type === HIDDEN_MEDIA && typeof model === 'string')
        this.#hidden.push({ model, before: this.#items.length })
  }

  push(item: PromptItem): void {
    this.#endResults()
    this.#said = null
    this.#items.push(item)
  }

  say(entry: PayloadOf<'assistant_item'> | PayloadOf<'tool_called'>): void {
    const { turn, call } = entry
    if (this.#said?.turn !== turn || this.#said.call !== call) {
      const id = this.#modelOf(turn, call)
      const by = id === undefined ? undefined : parseModelId(id)
      const parts: AssistantPart[] = []
      this.push({ type: 'assistant', ...(by === undefined ? {} : { by }), parts })
      this.#said = { turn, call, parts }
    }
    this.#said.parts.push(...entry.parts.map((part) => part as Part & AssistantPart))
    if ('callId' in entry) this.#called.set(entry.callId, entry.tool)
  }

  answer({ callId, index, parts, isError }: PayloadOf<'tool_answered'>): void {
    const tool = this.#called.get(callId) ?? ''
    this.#results.push({ index, result: { callId, tool, output: outputOf(parts), isError } })
  }

  whole(): SessionPrompt {
    this.#endResults()
    return {
      system: this.#system,
      items: this.#items,
      tools: this.#tools,
      sources: this.#sources,
      hidden: this.#hidden,
    }
  }

  #endResults(): void {
    if (this.#results.length === 0) return
    const inOrder = this.#results.toSorted((a, b) => a.index - b.index)
    this.#items.push({ type: 'tool_results', results: inOrder.map(({ result }) => result) })
    this.#results = []
    this.#called.clear()
  }
}

function declarationsIn(part: Part): readonly ToolDeclaration[] {
  const declared: unknown = part['declarations']
  return declared as readonly ToolDeclaration[]
}

/** The texts of parts, joined. Parts that only Reeve reads have none. */
export function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => textIn(part) ?? []).join('\n')
}

function textIn(part: Part): string | undefined {
  const { text } = part
  if (part.type === 'paste') return pasteText(part)
  if (typeof text === 'string') return text
  if (part.type === 'json') return JSON.stringify(part['value'] ?? null)
  return part.type === 'reference' ? `File: ${String(part['path'])}` : undefined
}

/** The parts of an input as a model reads them. */
export function userParts(parts: readonly Part[]): readonly UserPart[] {
  const user = parts.flatMap((part): UserPart[] => {
    if (part.type === 'image' || part.type === 'file') return [part as Part & UserPart]
    const text = textIn(part)
    return text === undefined || text === '' ? [] : [{ type: 'text', text }]
  })
  return user.length > 0 ? user : [{ type: 'text', text: '(empty)' }]
}

function outputOf(parts: readonly Part[]): ToolResult['output'] {
  const [first] = parts
  if (parts.length === 1 && first?.type === 'json') return { type: 'json', value: first['value'] ?? null }
  if (parts.some(({ type }) => type === 'image' || type === 'file'))
    return { type: 'content', parts: userParts(parts) }
  return { type: 'text', text: textOf(parts) }
}
