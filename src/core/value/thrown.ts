import type { Json } from '../json/json.ts'
import { encode } from './encode.ts'
import { TAG } from './value.ts'

/** How much of a message is kept. */
const MAX_MESSAGE_CHARS = 10_000
/** How long a chain of causes may be. */
const MAX_CAUSES = 8

/** A thrown value as an encoded error. Total: a failure is always recorded, without the parts that cannot be stored. */
export function encodeThrown(thrown: unknown, depth = 0): Json {
  const isError = thrown instanceof Error
  const { code, cause } = (isError ? thrown : {}) as { readonly code?: unknown; readonly cause?: unknown }
  return {
    [TAG]: 'Error',
    name: isError ? shortened(String(thrown.name)) : 'Error',
    message: messageOf(thrown),
    ...(typeof code === 'string' ? { code: shortened(code) } : {}),
    ...(typeof code === 'number' && Number.isFinite(code) ? { code } : {}),
    ...causeOf(cause, depth),
  }
}

export function messageOf(thrown: unknown): string {
  return shortened(thrown instanceof Error ? String(thrown.message) : textOf(thrown))
}

function causeOf(cause: unknown, depth: number): { readonly cause?: Json } {
  if (cause === undefined || depth >= MAX_CAUSES) return {}
  if (cause instanceof Error) return { cause: encodeThrown(cause, depth + 1) }
  const encoded = encode(cause)
  const isShort = encoded.type === 'encoded' && JSON.stringify(encoded.json).length <= MAX_MESSAGE_CHARS
  return isShort ? { cause: encoded.json } : {}
}

/** An object without a prototype has no `toString`. */
function textOf(thrown: unknown): string {
  try {
    return String(thrown)
  } catch {
    return 'Something was thrown that has no text.'
  }
}

function shortened(text: string): string {
  const kept = text.length <= MAX_MESSAGE_CHARS ? text : `${text.slice(0, MAX_MESSAGE_CHARS)}…`
  return kept.toWellFormed()
}
