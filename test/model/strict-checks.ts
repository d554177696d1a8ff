/** Of a request for a chat completion. */
export interface ChatMessage {
  readonly role: string
  readonly tool_calls?: readonly { readonly id: string }[]
  readonly tool_call_id?: string
}

/** The bytes of a request, with its messages apart. */
export interface Wire {
  readonly head: string
  readonly messages: readonly string[]
  readonly tail: string
}

export function wireOf(body: string): Wire {
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

export function prefixComplaint(before: Wire, now: Wire): string | undefined {
  if (before.head !== now.head) return 'The settings before the messages changed.'
  if (before.tail !== now.tail) return 'The tools or settings after the messages changed.'
  const changed = before.messages.findIndex((message, index) => now.messages[index] !== message)
  return changed === -1 ? undefined : `Message ${changed} changed.`
}

/** Why a strict provider would refuse the order of these messages. */
export function orderComplaint(messages: readonly ChatMessage[]): string | undefined {
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
