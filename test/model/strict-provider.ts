import type { ServerResponse } from 'node:http'
import { type ChatCall, sendChat } from './chat-events.ts'
import { type ProviderServer, providerServer } from './provider-server.ts'
import { type ChatMessage, orderComplaint, prefixComplaint, type Wire, wireOf } from './strict-checks.ts'

export interface StrictAnswer {
  readonly text?: string
  readonly calls?: readonly ChatCall[]
}

export interface StrictProvider extends ProviderServer {
  /** What was wrong with a request; empty if all were in order. */
  readonly complaints: readonly string[]
  /** The next request of this model may begin differently: its prompt was made shorter. */
  expectNewPrefix(model: string): void
}

/**
 * A server of chat completions that checks what lenient servers forgive: each call has one result, right after it; no id occurs twice; and each
 * request of a model begins with the bytes of the one before. Such a request gets status 400, and is a complaint. Each conversation has a model
 * of its own.
 */
export async function strictProvider(
  answer: (
    messages: readonly ChatMessage[],
    index: number,
  ) => StrictAnswer | ((response: ServerResponse) => void),
): Promise<StrictProvider> {
  const complaints: string[] = []
  const before = new Map<string, Wire>()
  const server = await providerServer((response, { body }, index) => {
    const { model, messages } = JSON.parse(body) as { model: string; messages: readonly ChatMessage[] }
    const wire = wireOf(body)
    const earlier = before.get(model)
    const complaint = orderComplaint(messages) ?? (earlier && prefixComplaint(earlier, wire))
    if (complaint !== undefined) {
      complaints.push(complaint)
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message: complaint, type: 'invalid_request_error' } }))
      return
    }
    before.set(model, wire)
    const given = answer(messages, index)
    if (typeof given === 'function') given(response)
    else sendChat(response, { text: given.text === undefined ? [] : [given.text], calls: given.calls ?? [] })
  })
  return { ...server, complaints, expectNewPrefix: (model) => void before.delete(model) }
}
