import type { NotedAnchor } from '../core/audit/anchors.ts'
import { type AuditAnchor, type AuditStart, auditStartText } from '../core/audit/chain.ts'
import type { Edges } from './edges.ts'

/** Before the signature with a key that is not in the store. */
const OUTSIDE = 'home '

/** Signs the last removed place: with the key of the home, else with the secret of the store. */
export async function signedStart(
  { store, sign, auditKey = () => null }: Pick<Edges, 'store' | 'sign' | 'auditKey'>,
  place: AuditAnchor,
): Promise<AuditStart> {
  const text = auditStartText(place)
  const key = auditKey()
  const signature =
    key === null ? sign(await store.ask({ ask: 'secret' }), text) : `${OUTSIDE}${sign(key, text)}`
  return { ...place, signature }
}

/**
 * Whether Reeve removed the entries up to a start: this home has signed or noted it. A program without a home can only verify what
 * another one without a home has signed.
 */
export async function isSignedStart(
  { store, sign, sameText, auditKey = () => null }: Pick<Edges, 'store' | 'sign' | 'sameText' | 'auditKey'>,
  start: AuditStart,
  anchors: readonly NotedAnchor[],
): Promise<boolean> {
  const { position, hash, signature } = start
  if (anchors.some((anchor) => anchor.isStart && anchor.position === position && anchor.hash === hash))
    return true
  const text = auditStartText(start)
  const key = auditKey()
  if (key !== null) return sameText(signature, `${OUTSIDE}${sign(key, text)}`)
  return signature.startsWith(OUTSIDE) || sameText(signature, sign(await store.ask({ ask: 'secret' }), text))
}
