import type { ServerResponse } from 'node:http'
import { beginEvents } from './send-events.ts'

/** The blocks of an answer of Anthropic's API. */
export type Block =
  | { readonly type: 'thinking'; readonly text: string; readonly signature: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly text: string }

/** Sends the beginning of an answer, and returns how to send its blocks and its end. */
export function beginMessage(response: ServerResponse) {
  const send = beginEvents(response)
  const event = (value: { readonly type: string }) => send(value, value.type)
  let index = -1
  event({
    type: 'message_start',
    ...{
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'claude',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: {
          input_tokens: 40,
          cache_read_input_tokens: 50,
          cache_creation_input_tokens: 10,
          output_tokens: 1,
        },
      },
    },
  })
  const start = (content_block: object) => {
    index += 1
    event({ type: 'content_block_start', ...{ index, content_block } })
  }
  const delta = (value: object) => event({ type: 'content_block_delta', ...{ index, delta: value } })
  const stop = () => event({ type: 'content_block_stop', ...{ index } })
  const block = (one: Block) => {
    switch (one.type) {
      case 'thinking':
        start({ type: 'thinking', thinking: '', signature: '' })
        delta({ type: 'thinking_delta', thinking: one.text })
        delta({ type: 'signature_delta', signature: one.signature })
        return stop()
      case 'text':
        start({ type: 'text', text: '' })
        delta({ type: 'text_delta', text: one.text })
        return stop()
      case 'tool_use':
        start({ type: 'tool_use', id: one.id, name: one.name, input: {} })
        delta({ type: 'input_json_delta', partial_json: one.text })
        return stop()
    }
  }
  const end = (stop_reason: string) => {
    event({
      type: 'message_delta',
      ...{ delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 30 } },
    })
    event({ type: 'message_stop' })
    response.end()
  }
  return { start, delta, block, end, event }
}

export function sendMessage(response: ServerResponse, blocks: readonly Block[], stopReason?: string): void {
  const message = beginMessage(response)
  for (const one of blocks) message.block(one)
  message.end(stopReason ?? (blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'))
}
