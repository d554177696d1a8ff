import type { ServerResponse } from 'node:http'
import { type ChatCall, sendChat } from './chat-events.ts'
import { type ProviderServer, providerServer } from './provider-server.ts'

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

interface ChatMessage {
  readonly role: string
  readonly tool_calls?: readonly { readonly id: string }[]
  readonly tool_call_id?: string
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

/** The bytes of a request, with its messages apart. */
interface Wire {
  readonly head: string
  readonly messages: readonly string[]
  readonly tail: string
}

function wireOf(body: string): Wire {
  const value = JSON.parse(body)
  if (JSON.stringify(value) !== body) throw new Error('The body is not plain JSON.stringify output.')
  const { messages, ...rest } = value
  const names = Object.keys(value)
  const at = names.indexOf('messages')
  const part = (keys: readonly string[]) => JSON.stringify(keys.map((name) => [name, rest[name]]))
  return {
    head: part(names.slice(0, at)),
    messages: messages.map((message: unknown) => JSON.stringify(message)),
    tail: part(names.slice(at + 1)),
  }
}

function prefixComplaint(before: Wire, now: Wire): string | undefined {
  if (before.head !== now.head) return 'The settings before the messages changed.'
  if (before.tail !== now.tail) return 'The tools or settings after the messages changed.'
  const changed = before.messages.findIndex((message, index) => now.messages[index] !== message)
  return changed === -1 ? undefined : `Message ${changed} changed.`
}

function orderComplaint(messages: readonly ChatMessage[]): string | undefined {
  const used = new Set<string>()
  let open = new Set<string>()
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      const id = message.tool_call_id ?? ''
      if (!open.delete(id)) return `Message ${index}: a result of ${id}, which waits for none.`
      continue
    }
    if (open.size > 0) return `Message ${index}: the calls ${[...open].join(', ')} have no result.`
    const ids = (message.tool_calls ?? []).map(({ id }) => id)
    const again = ids.find((id) => used.has(id) || !used.add(id))
    if (again !== undefined) return `Message ${index}: the id ${again} was used before.`
    open = new Set(ids)
  }
  return open.size > 0 ? `The calls ${[...open].join(', ')} have no result.` : undefined
}
