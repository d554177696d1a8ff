import { MAX_MESSAGE_BYTES } from '../kept-rpc/kept-messages.ts'

/** The response, whose body fails beyond the longest message. A stream of events is bounded for each event. */
export function boundedBody(response: Response): Response {
  if (response.body === null) return response
  const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true
  let bytes = 0
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length
      if (bytes > MAX_MESSAGE_BYTES) {
        controller.error(new Error(`The answer has more than ${MAX_MESSAGE_BYTES} bytes.`))
        return
      }
      // Events end with an empty line.
      if (isStream && Buffer.from(chunk).includes('\n\n')) bytes = 0
      controller.enqueue(chunk)
    },
  })
  const { status, statusText, headers } = response
  const bounded = new Response(response.body.pipeThrough(counter), { status, statusText, headers })
  // The SDK compares it with the address that it asked.
  Object.defineProperty(bounded, 'url', { value: response.url })
  return bounded
}
