import { AnswerTooLarge } from '../answer-builder.ts'
import { touchCallOf } from './stream-stop.ts'

/** Bytes between two line ends of a stream of events: each event is parsed whole. */
const MAX_LINE_BYTES = 8 * 1024 * 1024
/** Bytes of a stream. Each token comes with some hundred bytes around it. */
const MAX_STREAM_BYTES = 256 * 1024 * 1024
/** Bytes of an error page that are read. */
const MAX_ERROR_BYTES = 64 * 1024

/**
 * The fetch of all providers: responses are bounded before they are read into memory, and a redirect is not followed, since
 * it would carry the key to another host.
 */
export const guardedFetch: typeof globalThis.fetch = async (input, init) => {
  const response = await globalThis.fetch(input, { ...init, redirect: 'manual' })
  if (response.body === null) return response
  const guard = response.ok ? refuseHugeAnswers(() => touchCallOf(init?.signal)) : cutErrorPage()
  return new Response(response.body.pipeThrough(guard), {
    status: response.status,
    statusText: response.statusText,
    headers: response.headers,
  })
}

function refuseHugeAnswers(onBytes: () => void): TransformStream<Uint8Array, Uint8Array> {
  let total = 0
  let line = 0
  return new TransformStream({
    transform(bytes, controller) {
      onBytes()
      total += bytes.length
      const end = bytes.lastIndexOf(NEW_LINE)
      line = end === -1 ? line + bytes.length : bytes.length - end - 1
      if (total > MAX_STREAM_BYTES || line > MAX_LINE_BYTES) controller.error(new AnswerTooLarge())
      else controller.enqueue(bytes)
    },
  })
}

function cutErrorPage(): TransformStream<Uint8Array, Uint8Array> {
  let left = MAX_ERROR_BYTES
  return new TransformStream({
    transform(bytes, controller) {
      controller.enqueue(bytes.subarray(0, left))
      left -= bytes.length
      if (left <= 0) controller.terminate()
    },
  })
}

const NEW_LINE = 10
