import type { ServerResponse } from 'node:http'
import { beginEvents } from './send-events.ts'

/** One event of a chat completion. */
export function chatDelta(delta: object, finish: string | null = null): object {
  return {
    id: 'chatcmpl-1',
    created: 1_700_000_000,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  }
}

export interface ChatCall {
  readonly id: string
  readonly name: string
  readonly text: string
}

export const CHAT_USAGE = {
  prompt_tokens: 100,
  completion_tokens: 20,
  prompt_tokens_details: { cached_tokens: 60 },
  completion_tokens_details: { reasoning_tokens: 5 },
}

/** Sends a whole chat completion: text first, then calls in two pieces each. */
export function sendChat(
  response: ServerResponse,
  {
    text = [],
    calls = [],
    thinking = [],
  }: {
    readonly text?: readonly string[]
    readonly calls?: readonly ChatCall[]
    readonly thinking?: readonly string[]
  },
): void {
  const send = beginEvents(response)
  for (const piece of thinking) send(chatDelta({ reasoning_content: piece }))
  for (const piece of text) send(chatDelta({ content: piece }))
  for (const [index, call] of calls.entries()) {
    const half = Math.floor(call.text.length / 2)
    send(
      chatDelta({
        tool_calls: [
          {
            index,
            id: call.id,
            type: 'function',
            function: { name: call.name, arguments: call.text.slice(0, half) },
          },
        ],
      }),
    )
    send(chatDelta({ tool_calls: [{ index, function: { arguments: call.text.slice(half) } }] }))
  }
  send(chatDelta({}, calls.length > 0 ? 'tool_calls' : 'stop'))
  send({ id: 'chatcmpl-1', created: 1_700_000_000, model: 'm', choices: [], usage: CHAT_USAGE })
  send('[DONE]')
  response.end()
}
