import { createHmac, timingSafeEqual } from 'node:crypto'
import { type SignedRequest, signedPrefix } from '../../core/trigger/webhook-request.ts'

const PREFIX = 'whsec_'

/** The signature of a request, as its header has it: HMAC-SHA256 over id, timestamp and the bytes of the body. */
function signatureOf(secret: string, signed: SignedRequest, body: Uint8Array): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
  return `v1,${createHmac('sha256', key).update(signedPrefix(signed)).update(body).digest('base64')}`
}

/** Whether one of the signatures is right. Compares in constant time. */
export function isSigned(secret: string, signed: SignedRequest, body: Uint8Array): boolean {
  const right = Buffer.from(signatureOf(secret, signed, body))
  let found = false
  for (const text of signed.signatures) {
    const given = Buffer.from(text)
    if (given.length === right.length && timingSafeEqual(given, right)) found = true
  }
  return found
}
