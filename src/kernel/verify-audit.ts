import type { NotedAnchor } from '../core/audit/anchors.ts'
import { type AuditAnchor, type AuditLink, type AuditTail, CHAIN_BEGIN } from '../core/audit/chain.ts'
import {
  type ChainBreak,
  type VerifiedPage,
  verifyEnd,
  verifyPage,
  verifyStart,
} from '../core/audit/verify.ts'
import type { Page } from '../store/contract.ts'
import { isSignedStart } from './audit-start.ts'
import type { Edges } from './edges.ts'

const PAGE = 1_000

/** `start`: the entries up to this position were removed by retention; 0 if none was. */
export type VerifiedAudit =
  | (Extract<VerifiedPage, { type: 'sound' }> & { readonly start: number })
  | ChainBreak

/**
 * Verifies the whole chain, page by page. `anchors` are those of this store, in order of position. The end that the store
 * itself notes counts as one more: read before the entries, it must be among them.
 */
export async function verifyAudit(
  edges: Edges,
  anchors: readonly NotedAnchor[],
  signal?: AbortSignal,
): Promise<VerifiedAudit> {
  for (;;) {
    const tail = await edges.store.ask({ ask: 'auditTail' })
    const verified = await verifyFrom(edges, tail, anchors, signal)
    if (verified.type === 'sound') return verified
    // Retention may have removed entries while they were read.
    const now = await edges.store.ask({ ask: 'auditTail' })
    if (now.start?.position === tail.start?.position) return verified
  }
}

async function verifyFrom(
  edges: Edges,
  { start, position, hash }: AuditTail,
  anchors: readonly NotedAnchor[],
  signal: AbortSignal | undefined,
): Promise<VerifiedAudit> {
  const { store } = edges
  const begin = start ?? CHAIN_BEGIN
  const places = [...anchors.filter((anchor) => anchor.position >= begin.position), { position, hash }]
  if (start !== null) {
    if (!(await isSignedStart(edges, start, anchors))) return UNSIGNED
    const broken = verifyStart(start, places)
    if (broken !== null) return broken
  }
  let end: AuditAnchor = { position: begin.position, hash: begin.hash }
  for (let after: number | null = begin.position; after !== null; ) {
    signal?.throwIfAborted()
    const page: Page<AuditLink> = await store.ask({ ask: 'auditLinks', after, limit: PAGE })
    const verified: VerifiedPage = verifyPage(end, page.items, places, edges.hash)
    if (verified.type === 'broken') return verified
    end = verified.end
    after = page.next
  }
  return verifyEnd(end, places) ?? { type: 'sound', end, start: begin.position }
}

const UNSIGNED: ChainBreak = { type: 'broken', from: 1, reason: 'unsigned' }
