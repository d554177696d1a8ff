const USAGE = { inputTokens: { total: 10 }, outputTokens: { total: 5 } }

export interface HeldCall {
  /** The whole prompt, as JSON. */
  readonly prompt: string
  readonly abortSignal: AbortSignal
  answer(text: string): void
}

/** A model object of the AI SDK. Each of its calls waits until the test answers it. */
export class HeldModel {
  readonly specificationVersion = 'v4'
  readonly provider = 'held'
  readonly modelId = 'held'
  readonly supportedUrls = {}
  readonly #arrived: HeldCall[] = []
  #wake: () => void = () => undefined

  doStream({ prompt, abortSignal }: { prompt: unknown; abortSignal: AbortSignal }) {
    return new Promise((resolve, reject) => {
      abortSignal.addEventListener('abort', () => reject(abortSignal.reason))
      const answer = (delta: string) => resolve({ stream: ReadableStream.from(parts(delta)) })
      this.#arrived.push({ prompt: JSON.stringify(prompt), abortSignal, answer })
      this.#wake()
    })
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

function parts(delta: string) {
  return [
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta },
    { type: 'text-end', id: 't' },
    { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage: USAGE },
  ]
}
