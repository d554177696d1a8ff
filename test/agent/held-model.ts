const USAGE = { inputTokens: { total: 10 }, outputTokens: { total: 5 } }

export interface HeldCall {
  /** The whole prompt, as JSON. */
  readonly prompt: string
  /** The declared tools, as JSON. */
  readonly tools: string
  readonly abortSignal: AbortSignal
  /** Sends the beginning of an answer. */
  begin(): void
  answer(text: string): void
  /** Answers with a call of a tool. */
  call(tool: string, input?: object): void
}

interface Asked {
  readonly prompt: unknown
  readonly tools: unknown
  readonly abortSignal: AbortSignal
}

/** A model object of the AI SDK. Each of its calls waits until the test answers it. */
export class HeldModel {
  readonly specificationVersion = 'v4'
  readonly provider = 'held'
  readonly modelId = 'held'
  readonly supportedUrls = {}
  readonly #arrived: HeldCall[] = []
  #wake: () => void = () => undefined

  async doStream({ prompt, tools, abortSignal }: Asked) {
    const { readable, writable } = new TransformStream<object>()
    const writer = writable.getWriter()
    // The reader cancels the stream of an aborted call, and the writer hears of it here.
    writer.closed.catch(() => undefined)
    const send = (...parts: readonly object[]) => {
      for (const part of parts) writer.write(part).catch(() => undefined)
    }
    const begin = () => send({ type: 'text-start', id: 't' }, { type: 'text-delta', id: 't', delta: '…' })
    const end = (reason: string) => {
      send({ type: 'finish', finishReason: { unified: reason, raw: reason }, usage: USAGE })
      writer.close().catch(() => undefined)
    }
    const answer = (delta: string) => {
      send(
        { type: 'text-start', id: 't' },
        { type: 'text-delta', id: 't', delta },
        { type: 'text-end', id: 't' },
      )
      end('stop')
    }
    const call = (toolName: string, input: object = {}) => {
      send({ type: 'tool-call', toolCallId: '1', toolName, input: JSON.stringify(input) })
      end('tool-calls')
    }
    const asked = { prompt: JSON.stringify(prompt), tools: JSON.stringify(tools) }
    this.#arrived.push({ ...asked, abortSignal, begin, answer, call })
    this.#wake()
    return { stream: readable }
  }

  /** The next call that the test has not seen, as soon as it arrives. */
  async next(): Promise<HeldCall> {
    for (;;) {
      const call = this.#arrived.shift()
      if (call !== undefined) return call
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}
