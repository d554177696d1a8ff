import { type Json, notJson } from '../json/json.ts'

/** How far the time of a request may be off. */
const MAX_OFF_SECONDS = 300

/** A request to a webhook, before its secret is known. Its headers are those of the specification Standard Webhooks. */
export interface SignedRequest {
  /** Of the delivery: the same id is the same delivery. */
  readonly id: string
  readonly timestamp: string
  /** A sender that changes its secret signs with both. */
  readonly signatures: readonly string[]
}

/** Why a request is refused. It is stored under this name. */
export type RejectedFor = 'headers' | 'timestamp' | 'signature' | 'too_large' | 'too_fast' | 'body' | 'paused'

const MAX_SIGNATURES = 10
const ID = /^[!-~]{1,200}$/

/** The request in its headers, or why it is refused. That needs no secret, and tells nothing about the trigger. */
export function readSignedRequest(
  header: (name: string) => string | undefined,
  now: number,
): SignedRequest | 'headers' | 'timestamp' {
  const id = header('webhook-id') ?? ''
  const timestamp = header('webhook-timestamp') ?? ''
  const signatures = (header('webhook-signature') ?? '').split(' ').filter((text) => text.startsWith('v1,'))
  const isComplete = ID.test(id) && /^\d{1,12}$/.test(timestamp) && signatures.length > 0
  if (!isComplete || signatures.length > MAX_SIGNATURES) return 'headers'
  if (Math.abs(now / 1_000 - Number(timestamp)) > MAX_OFF_SECONDS) return 'timestamp'
  return { id, timestamp, signatures }
}

/** The text that is signed, before the body. */
export function signedPrefix({ id, timestamp }: SignedRequest): string {
  return `${id}.${timestamp}.`
}

/** The value of a JSON text; undefined if it is none, or cannot be stored. */
export function bodyIn(text: string): { readonly value: Json } | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return notJson(value) === undefined ? { value: value as Json } : undefined
  } catch {
    return undefined
  }
}
