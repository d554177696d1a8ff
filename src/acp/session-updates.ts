import type { PlanEntry, SessionUpdate, ToolCall } from '@agentclientprotocol/sdk'
import { planIn } from '../core/plan/plan-list.ts'
import type { AgentFollowed } from '../verbs/follow-calls.ts'
import type { OutputOf } from '../verbs/reeve.ts'
import { AnswerText, type TextChunk } from './answer-text.ts'
import { inputBlocks } from './input-blocks.ts'
import { type Answered, type Called, textOf, toolCallOf, toolResultOf } from './tool-calls.ts'

type Item = OutputOf<'agentLog'>['items'][number]
type AgentRecord = OutputOf<'agentLog'>['record']

export interface UpdatesOptions {
  readonly pid: string
  readonly workspace: string | null
  /** The context window of the model, in tokens; null if it is not known. */
  readonly contextWindow: () => number | null
  /** The client shows notices. */
  readonly showsNotices: boolean
}

/** Translates the session of an agent into updates for an editor. */
export class SessionUpdates {
  readonly #options: UpdatesOptions
  readonly #text = new AnswerText()
  /** Calls without a result. An agent has few at once, and a turn that ends closes them all. */
  readonly #open = new Map<string, ToolCall>()
  /** The input that the editor has sent, and shows by itself: it sends one at a time. */
  #own: string | null = null
  #contextTokens: number | null = null

  constructor(options: UpdatesOptions) {
    this.#options = options
  }

  /** This input comes from the editor. */
  sent(input: string): void {
    this.#own = input
  }

  /** The call that the editor shows under this id. */
  openCall(toolCallId: string): ToolCall | undefined {
    return this.#open.get(toolCallId)
  }

  of(followed: AgentFollowed): SessionUpdate[] {
    switch (followed.type) {
      case 'item':
        return this.item(followed.item)
      case 'fragment': {
        const { turn, call, stream, text } = followed
        if (stream !== 'text' && stream !== 'thinking') return []
        return this.#text.fragment(this.#callName(turn, call), stream, text).map(chunkUpdate)
      }
      case 'state':
        return this.#usage(followed.record)
      case 'snapshot':
      case 'gap':
      case 'ended':
        return []
    }
  }

  /** `isReplay`: of the past. Notices are left out, because they are about the moment. */
  item(item: Item, isReplay = false): SessionUpdate[] {
    switch (item.type) {
      case 'input_promoted': {
        if (item.payload.input === this.#own && !isReplay) return []
        const messageId = `${this.#options.pid}.input.${item.payload.input}`
        return inputBlocks(item.payload.parts).map((content) => ({
          sessionUpdate: 'user_message_chunk',
          content,
          messageId,
        }))
      }
      case 'assistant_item':
        return this.#answer(item.payload)
      case 'tool_called':
        return this.#called(item.payload)
      case 'tool_answered':
        return this.#answered(item.payload)
      case 'model_used':
        this.#contextTokens = item.payload.inputTokens + item.payload.outputTokens
        return []
      case 'model_call_cut':
      case 'model_call_retried':
        this.#text.cut()
        return []
      case 'turn_ended':
        this.#open.clear()
        return this.#text.end().map(chunkUpdate)
      case 'agent_alerted':
        return isReplay ? [] : [this.notice('warning', item.payload.message)]
      case 'segment_begun':
        if (isReplay || item.payload.why !== 'compaction') return []
        return [this.notice('info', 'The session was summarised.')]
      default:
        return []
    }
  }

  /** Something that the person should know. A client without notices gets a message. */
  notice(severity: 'info' | 'warning' | 'error', title: string): SessionUpdate {
    if (this.#options.showsNotices) return { sessionUpdate: 'notice', severity, title }
    return { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: `\n\n*${title}*\n\n` } }
  }

  #answer({ turn, call, parts }: Extract<Item, { type: 'assistant_item' }>['payload']): SessionUpdate[] {
    const name = this.#callName(turn, call)
    return parts
      .flatMap((part) =>
        this.#text.entry(name, part.type === 'reasoning' ? 'thinking' : 'text', textOf([part])),
      )
      .map(chunkUpdate)
  }

  #called(called: Called): SessionUpdate[] {
    const id = this.#toolCallId(called)
    const call = toolCallOf(id, this.#options.workspace, called)
    this.#open.set(id, call)
    return [{ sessionUpdate: 'tool_call', ...call }]
  }

  #answered(answered: Answered): SessionUpdate[] {
    const id = this.#toolCallId(answered)
    const call = this.#open.get(id) ?? { toolCallId: id, title: answered.callId }
    this.#open.delete(id)
    const plan = call.name === 'plan' && !answered.isError ? planIn(textOf(answered.parts)) : null
    return [
      { sessionUpdate: 'tool_call_update', ...toolResultOf(call, answered) },
      ...(plan === null ? [] : [{ sessionUpdate: 'plan' as const, entries: plan.items.flatMap(entryOf) }]),
    ]
  }

  /** Once for each model call: the context it has used, and the cost so far if all of it is known. */
  #usage({ agent }: AgentRecord): SessionUpdate[] {
    const used = this.#contextTokens
    const size = this.#options.contextWindow()
    if (used === null || size === null || agent === null) return []
    this.#contextTokens = null
    const { cost, unpriced } = agent.totals
    const known = unpriced === 0 ? { cost: { amount: cost, currency: 'USD' } } : {}
    return [{ sessionUpdate: 'usage_update', used, size, ...known }]
  }

  #callName(turn: number, call: number): string {
    return `${this.#options.pid}.${turn}.${call}`
  }

  /** The name under which the processes of a call know it, so that requests of theirs lead back to it. */
  #toolCallId({ turn, call, index }: Pick<Called, 'turn' | 'call' | 'index'>): string {
    return `${this.#callName(turn, call)}.${index}`
  }
}

function chunkUpdate({ kind, text, message }: TextChunk): SessionUpdate {
  return {
    sessionUpdate: kind === 'thinking' ? 'agent_thought_chunk' : 'agent_message_chunk',
    content: { type: 'text', text },
    messageId: message,
  }
}

/** Plans of the protocol have no dropped items. */
function entryOf({ text, status }: { readonly text: string; readonly status: string }): PlanEntry[] {
  if (status === 'dropped') return []
  const known = status === 'done' ? 'completed' : status === 'in_progress' ? 'in_progress' : 'pending'
  return [{ content: text, priority: 'medium', status: known }]
}
