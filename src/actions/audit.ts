import type { NotedAnchor } from '../core/audit/anchors.ts'
import type { ChainedEntry } from '../core/audit/chain.ts'
import { auditEntryFrom } from '../core/audit/entry.ts'
import { pruneAudit } from '../kernel/prune-audit.ts'
import { verifyAudit } from '../kernel/verify-audit.ts'
import type { OutputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, permitOnStore, permitOrAudit } from './action.ts'

/** Places of the chain that were noted outside of the store, in order of position. None without a home. */
export interface AuditAnchors {
  anchors(): Promise<readonly NotedAnchor[]>
}

export function auditActions(parts: ActionParts): ActionsFor<'audit' | 'pruneAudit' | 'verifyAudit'> {
  const { kernel, actor, anchoring } = parts
  const { edges } = kernel
  return {
    async audit({ oldestFirst, after = null, limit, ...filter }) {
      permitOnStore(parts, 'admin')
      const question = { ask: 'audit', ...filter, newestFirst: !oldestFirst, after, limit } as const
      const { items, next } = await edges.store.ask(question)
      return { entries: items.map(shownEntry), next }
    },
    async pruneAudit({ olderThanMs, keep }) {
      await permitOrAudit(parts, 'pruneAudit')
      const limits = {
        ...(olderThanMs === undefined ? {} : { before: edges.clock.now() - olderThanMs }),
        ...(keep === undefined ? {} : { keep }),
      }
      return pruneAudit(edges, limits, { by: actor })
    },
    async verifyAudit(_, { signal }) {
      permitOnStore(parts, 'admin')
      // Read before the chain: an anchor of now must be in it.
      const anchors = (await anchoring?.anchors()) ?? []
      const verified = await verifyAudit(edges, anchors, signal)
      return verified.type === 'sound'
        ? { type: 'sound', ...verified.end, start: verified.start, anchors: anchors.length }
        : { ...verified, anchors: anchors.length }
    },
  }
}

function shownEntry({ position, at, hash, text }: ChainedEntry): OutputOf<'audit'>['entries'][number] {
  const entry = auditEntryFrom(text)
  if (entry === null) return { type: 'unreadable', position, at, hash }
  const { actor, action, target, decision, rule, reason, inputs, trace } = entry
  return { type: 'entry', position, at, hash, actor, action, target, decision, rule, reason, inputs, trace }
}
