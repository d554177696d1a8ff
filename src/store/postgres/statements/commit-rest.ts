import type { Pid } from '../../../core/process/pid.ts'
import { referenceChanges } from '../../../core/process/prune.ts'
import { isOpen } from '../../../core/schedule/schedule.ts'
import { parentSessionOf } from '../../../core/session/session.ts'
import { type BelowSession, belowChanges } from '../../../core/session/sessions-above.ts'
import { isWaiting } from '../../../core/trigger/delivery.ts'
import type { BlobReference, Staged } from '../staged.ts'
import { goneSubjects } from './commit-authority.ts'
import { filledText, removed, versioned } from './commit-parts.ts'

/** The less frequent parts of a commit, as JSON for apply_rest; null if there are none. Empty parts are left out. */
export function restText(staged: Staged): string | null {
  return filledText({
    sessions: versioned(staged.sessions, (session) => ({
      id: session.id,
      carry: session.carry,
      parent: parentSessionOf(session),
    })),
    turns: versioned(staged.turns, ({ session, id, carry }) => ({ session, id, carry })),
    groups: versioned(staged.groups, ({ id }) => ({ id })),
    groups_gone: removed(staged.groups).map(({ id }) => id),
    inboxes: versioned(staged.inboxes, ({ scope, overflow }) => ({
      scope,
      tripped: overflow.tripped !== null,
    })),
    inboxes_gone: removed(staged.inboxes).map(({ scope }) => scope),
    accounts: versioned(staged.accounts, ({ id, root, session, settled }) => ({
      id,
      root,
      session,
      open: !settled,
    })),
    schedules: versioned(staged.schedules, (schedule) => ({ id: schedule.id, open: isOpen(schedule) })),
    schedules_gone: removed(staged.schedules).map(({ id }) => id),
    liens: versioned(staged.liens, ({ host }) => ({ host })),
    revocations: versioned(staged.revocations, ({ handle, root }) => ({ handle, root })),
    objects: staged.objects,
    triggers: versioned(staged.triggers, ({ id }) => ({ id })),
    triggers_gone: removed(staged.triggers).map(({ id }) => id),
    deliveries: versioned(staged.deliveries, (delivery) => ({
      pid: delivery.pid,
      trigger_id: delivery.trigger,
      number: delivery.number,
      waits: isWaiting(delivery),
    })),
    deliveries_gone: [...staged.prunedDeliveries].map(([trigger_id, through]) => ({ trigger_id, through })),
    accounts_gone: removed(staged.accounts).map(({ id }) => id),
    notices_done: staged.noticesDone,
    observed: staged.observed.map(({ turns, ...notice }) => ({ ...notice, turns: JSON.stringify(turns) })),
    sessions_gone: [...staged.goneSessions],
    rule_sets_gone: goneSubjects(staged),
    grants: [...staged.grants.values()].map((grant) => ({
      ...grant,
      descriptor: JSON.stringify(grant.descriptor),
    })),
    revokes: [...staged.revoked.values()],
    environments: [...staged.environments].map(([ref, value]) => ({ ref, body: JSON.stringify(value) })),
    environment_uses: staged.environmentUses,
    ended_uses: staged.endedUses,
    holders: [...staged.holders].flatMap(([id, put]) =>
      put === null ? [] : [{ id, body: JSON.stringify(put.holder), ttl: put.ttlMs }],
    ),
    holders_gone: [...staged.holders].flatMap(([id, put]) => (put === null ? [id] : [])),
    notices_dropped: [...staged.dropped],
    tombstones: [...staged.tombstones.values()].map(({ pid, fence, endedAt, prunedAt }) => ({
      pid,
      fence,
      ended_at: endedAt,
      pruned_at: prunedAt,
    })),
    tombstones_gone: staged.goneTombstones,
    ...references(staged),
    ...belowSessions(staged),
    ...blobReferences(staged),
  })
}

/** The references between processes that the changed records add and remove. */
function references({ processes }: Staged) {
  const changed = [...processes.values()].flatMap(({ base, value }) => {
    const { pid: referrer } = value.record
    const changes = referenceChanges(base?.record ?? null, value.record)
    return changes === null ? [] : [{ referrer, ...changes }]
  })
  return {
    references: changed.flatMap(({ referrer, added }) => added.map((pid) => ({ pid, referrer }))),
    references_gone: changed.flatMap(({ referrer, removed }) => removed.map((pid) => ({ pid, referrer }))),
  }
}

/** The rows of processes of sessions below others that the changed records add and remove. */
function belowSessions({ processes }: Staged) {
  const changed = [...processes.values()].flatMap(({ base, value }) => {
    const { pid } = value.record
    const changes = belowChanges(base?.record ?? null, value.record)
    return changes === null ? [] : [{ pid, ...changes }]
  })
  const row =
    (pid: Pid) =>
    ({ session, isEnded }: BelowSession) => ({ pid, session, is_ended: isEnded })
  return {
    below_sessions: changed.flatMap(({ pid, added }) => added.map(row(pid))),
    below_sessions_gone: changed.flatMap(({ pid, removed }) => removed.map(row(pid))),
  }
}

/** Sorted: all transactions lock blobs in this order. */
function blobReferences({ blobReferences }: Staged) {
  if (blobReferences.size === 0) return {}
  const changed = [...blobReferences.values()].sort((a, b) => (a.hash < b.hash ? -1 : 1))
  const row = ({ pid, hash }: BlobReference) => ({ pid, hash })
  return {
    blob_references: changed.filter(({ isAdded }) => isAdded).map(row),
    blob_references_gone: changed.filter(({ isAdded }) => !isAdded).map(row),
  }
}
