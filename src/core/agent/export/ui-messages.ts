import { asJson, type Json, type JsonObject } from '../../json/json.ts'
import type { LogItem } from '../log-view.ts'
import type { Part } from '../state.ts'
import { partsText, partText } from './part-text.ts'

/** A chunk of a UI message stream of the AI SDK. */
export type UiChunk = JsonObject & { readonly type: string }

/**
 * The chunks of one item. A turn is a message, and a model call a step. Each item's chunks depend on the item alone, so a reader can
 * continue behind any of them.
 */
export function uiChunks(item: LogItem): readonly UiChunk[] {
  switch (item.type) {
    case 'turn_begun': {
      const { turn, cause } = item.payload
      return [{ type: 'start', messageId: `${item.pid}.${turn}`, messageMetadata: { turn, cause } }]
    }
    case 'input_promoted':
      return [{ type: 'data-input', data: { input: item.payload.input, parts: [...item.payload.parts] } }]
    case 'notices_promoted':
      return [{ type: 'data-notices', data: { parts: [...item.payload.parts], more: item.payload.more } }]
    case 'model_call_begun':
      return [...(item.payload.call > 1 ? [FINISH_STEP] : []), { type: 'start-step' }]
    case 'assistant_item':
      return item.payload.parts.flatMap((part, index) => partChunks(part, `${item.seq}.${index}`))
    case 'tool_called': {
      const { callId, tool, parts, isProviderExecuted } = item.payload
      const executed = isProviderExecuted === true ? { providerExecuted: true } : {}
      const call = { toolCallId: callId, toolName: tool, input: inputOf(parts), dynamic: true }
      return [{ type: 'tool-input-available', ...call, ...executed }]
    }
    case 'tool_answered': {
      const { callId, parts, isError } = item.payload
      const output = partsText(parts)
      return isError
        ? [{ type: 'tool-output-error', toolCallId: callId, errorText: output, dynamic: true }]
        : [{ type: 'tool-output-available', toolCallId: callId, output, dynamic: true }]
    }
    case 'system_item':
      return [{ type: 'data-note', data: { kind: item.payload.kind, text: partsText(item.payload.parts) } }]
    case 'session_rewound': {
      const { left, last, label = null } = item.payload
      return [{ type: 'data-rewound', data: { left, last, label } }]
    }
    case 'files_put_back':
      return [{ type: 'data-files', data: asJson({ ...item.payload }) }]
    case 'agent_alerted':
      return [{ type: 'data-alert', data: { alert: item.payload.alert, message: item.payload.message } }]
    case 'turn_ended':
      return endChunks(item)
    default:
      return []
  }
}

const FINISH_STEP: UiChunk = { type: 'finish-step' }

function partChunks(part: Part, id: string): readonly UiChunk[] {
  if (part.type === 'provider_result') return [providerResult(part)]
  const text = partText(part)
  if (text === null || text === '') return []
  const kind = part.type === 'reasoning' ? 'reasoning' : 'text'
  return [
    { type: `${kind}-start`, id },
    { type: `${kind}-delta`, id, delta: text },
    { type: `${kind}-end`, id },
  ]
}

function providerResult(part: Part): UiChunk {
  const toolCallId = String(part['callId'])
  const output: Json = part['result'] ?? null
  const more = { dynamic: true, providerExecuted: true }
  return part['isError'] === true
    ? { type: 'tool-output-error', toolCallId, errorText: JSON.stringify(output), ...more }
    : { type: 'tool-output-available', toolCallId, output, ...more }
}

function inputOf(parts: readonly Part[]): Json {
  return parts.find(({ type }) => type === 'tool_call')?.['input'] ?? {}
}

function endChunks({ payload }: Extract<LogItem, { type: 'turn_ended' }>): readonly UiChunk[] {
  const { reason, calls, message } = payload
  const step = calls > 0 ? [FINISH_STEP] : []
  if (reason === 'finished') return [...step, { type: 'finish', finishReason: 'stop' }]
  if (reason === 'cancelled' || reason === 'paused') return [...step, { type: 'abort', reason }]
  const errorText = message === undefined ? reason : `${reason}: ${message}`
  return [...step, { type: 'error', errorText }, { type: 'finish', finishReason: 'error' }]
}
