import type { LanguageModelV4StreamPart, LanguageModelV4Usage, SharedV4Warning } from '@ai-sdk/provider'
import { isObject } from '../../base/is-object.ts'
import { type Json, notJson } from '../../core/json/json.ts'
import type { Finish, Usage } from '../../core/model/answer.ts'
import type { AnswerBuilder } from '../answer-builder.ts'
import { providerDataOf } from './provider-options.ts'

/** How a stream ended, by its parts. */
export interface StreamEnd {
  finish?: Finish | 'content_filter' | 'interrupted' | 'error'
  rawFinish?: string
  usage?: Usage
  /** The input that was counted when the stream began: known even if it breaks. */
  inputUsage?: Pick<Usage, 'inputTokens' | 'cachedInputTokens' | 'cacheWriteTokens'>
  /** The first error. */
  error?: { readonly thrown: unknown }
  readonly warnings: string[]
}

const MAX_WARNINGS = 16
/** Not content: Anthropic's head of a stream, with the usage of the input. */
const MESSAGE_START = 'anthropic.message_start'

/** Feeds one part of a stream to the answer. Returns false if the rest is not worth reading. */
export function collect(part: LanguageModelV4StreamPart, answer: AnswerBuilder, end: StreamEnd): boolean {
  switch (part.type) {
    case 'text-start':
      answer.begin('text', part.id, dataOf(part))
      return true
    case 'text-delta':
      answer.append('text', part.id, part.delta, dataOf(part))
      return true
    case 'text-end':
      answer.end('text', part.id, dataOf(part))
      return true
    case 'reasoning-start':
      answer.begin('reasoning', part.id, dataOf(part))
      return true
    case 'reasoning-delta':
      answer.append('reasoning', part.id, part.delta, dataOf(part))
      return true
    case 'reasoning-end':
      answer.end('reasoning', part.id, dataOf(part))
      return true
    case 'tool-input-start':
      answer.beginCall(part.id, part.toolName)
      return true
    case 'tool-input-delta':
      answer.appendArguments(part.id, part.delta)
      return true
    case 'tool-call':
      answer.call({
        id: part.toolCallId,
        tool: part.toolName,
        text: part.input,
        isProviderExecuted: part.providerExecuted === true,
        ...providerDataOf(part.providerMetadata),
      })
      return true
    case 'tool-result':
      if (part.preliminary === true) return true
      answer.providerResult({
        id: part.toolCallId,
        tool: part.toolName,
        result: jsonOf(part.result),
        isError: part.isError === true,
        ...providerDataOf(part.providerMetadata),
      })
      return true
    case 'custom':
      if (part.kind === MESSAGE_START) takeInputUsage(end, part.providerMetadata?.['anthropic']?.['usage'])
      else answer.opaque(part.kind, dataOf(part))
      return true
    case 'stream-start':
      for (const warning of part.warnings) warn(end, warningText(warning))
      return true
    case 'file':
    case 'reasoning-file':
      warn(end, `A file of the type ${part.mediaType} in the answer was left out.`)
      return true
    case 'tool-approval-request':
      warn(end, 'A request of the provider for an approval was left out.')
      return true
    case 'finish':
      end.finish = finishOf(part.finishReason.unified, part.finishReason.raw)
      if (part.finishReason.raw !== undefined) end.rawFinish = part.finishReason.raw
      takeUsage(end, part.usage)
      return true
    case 'error':
      end.error ??= { thrown: part.error }
      return false
    case 'tool-input-end':
    case 'source':
    case 'response-metadata':
    case 'ping':
    case 'raw':
      return true
    default:
      // A later version of the interface may add parts.
      return true
  }
}

function finishOf(unified: string, raw: string | undefined): NonNullable<StreamEnd['finish']> {
  if (raw === 'pause_turn') return 'paused'
  switch (unified) {
    case 'tool-calls':
      return 'tool_calls'
    case 'content-filter':
      return 'content_filter'
    case 'stop':
    case 'length':
    case 'interrupted':
    case 'error':
      return unified
    default:
      return 'other'
  }
}

/** Without a total of input and output, a provider has reported nothing that could be charged. */
function takeUsage(end: StreamEnd, { inputTokens, outputTokens }: LanguageModelV4Usage): void {
  if (inputTokens.total === undefined || outputTokens.total === undefined) return
  end.usage = {
    inputTokens: whole(inputTokens.total),
    cachedInputTokens: whole(inputTokens.cacheRead),
    cacheWriteTokens: whole(inputTokens.cacheWrite),
    outputTokens: whole(outputTokens.total),
    reasoningTokens: whole(outputTokens.reasoning),
    isEstimate: false,
  }
}

function takeInputUsage(end: StreamEnd, usage: unknown): void {
  if (!isObject(usage)) return
  const cachedInputTokens = whole(usage['cache_read_input_tokens'])
  const cacheWriteTokens = whole(usage['cache_creation_input_tokens'])
  const inputTokens = whole(usage['input_tokens']) + cachedInputTokens + cacheWriteTokens
  if (inputTokens > 0) end.inputUsage = { inputTokens, cachedInputTokens, cacheWriteTokens }
}

function whole(tokens: unknown): number {
  return typeof tokens === 'number' && Number.isFinite(tokens) ? Math.max(0, Math.round(tokens)) : 0
}

function dataOf(part: { readonly providerMetadata?: Parameters<typeof providerDataOf>[0] }) {
  return providerDataOf(part.providerMetadata).providerData
}

function jsonOf(value: unknown): Json {
  const json: Json = JSON.parse(JSON.stringify(value) ?? 'null')
  return notJson(json) === undefined ? json : null
}

function warn(end: StreamEnd, text: string): void {
  if (end.warnings.length < MAX_WARNINGS) end.warnings.push(text)
}

function warningText(warning: SharedV4Warning): string {
  switch (warning.type) {
    case 'unsupported':
    case 'compatibility':
      return warning.details ?? `${warning.feature} is not supported.`
    case 'deprecated':
    case 'other':
      return warning.message
  }
}
