import type { Account } from '../../core/allowance/account.ts'
import type { HolderRow } from '../../core/lease/holder.ts'
import type { StoredEvent } from '../../core/process/event.ts'
import { hasEnded } from '../../core/process/record.ts'
import { isOpen as isOpenSchedule } from '../../core/schedule/schedule.ts'
import type { Grant } from '../../core/session/grant.ts'
import { parentSessionOf } from '../../core/session/session.ts'
import type { Changes, Question, Questions, StoredNotice } from '../contract.ts'
import {
  approvalQueue,
  approvals,
  approvalsDue,
  auditEntries,
  auditLinks,
  auditTail,
  nextApprovalDue,
} from './authority.ts'
import { environmentsOf, eventsOf, pairKey } from './keys.ts'
import type { HeldHolder, MemoryTables } from './memory-tables.ts'
import { objectEvent, objectEvents, objectVersions } from './objects.ts'
import {
  activity,
  claimable,
  listProcesses,
  nextDue,
  pageOf,
  pidsWith,
  rowsOf,
  unannounced,
} from './process-lists.ts'
import { prunable, pruneThrough, storage } from './prunable.ts'

/** The tables as a question finds them. */
export interface View {
  readonly tables: MemoryTables
  readonly now: () => number
  /** The last position before the transaction that asks; infinite outside a transaction. */
  readonly before: number
}

/** Answers one question from the tables. */
export function answerFrom({ tables, now, before }: View, question: Question): unknown {
  switch (question.ask) {
    case 'process':
      return tables.processes.get(question.pid)?.row ?? null
    case 'tombstone':
      return tables.tombstones.get(question.pid) ?? null
    case 'session':
      return tables.sessions.get(question.id) ?? null
    case 'turn':
      return tables.turns.get(pairKey(question.session, question.id)) ?? null
    case 'group':
      return tables.groups.get(question.id) ?? null
    case 'environment':
      return tables.environments.get(question.ref) ?? null
    case 'environments':
      return environmentsOf(tables, question.usedBy).slice(0, question.limit)
    case 'holder':
      return holderRow(tables.holders.get(question.id), now)
    case 'announced':
      return tables.holders.has(question.id)
    case 'event':
      return tables.events.get(question.pid)?.byReplayKey.get(question.replayKey) ?? null
    case 'eventAt':
      return eventsOf(tables, question.pid)[question.seq - 1] ?? null
    case 'pids':
      return pidsWith(tables, question)
    case 'processes':
      return listProcesses(tables, question)
    case 'claimable':
      return claimable(tables, question)
    case 'nextDue':
      return nextDue(tables, question)
    case 'held':
      return pageOf(tables, question, ({ holder }) => holder === question.holder)
    case 'holders':
      return [...tables.holders.values()]
        .map((held) => holderRow(held, now))
        .sort((a, b) => order(a?.id, b?.id))
    case 'unannounced':
      return unannounced(tables)
    case 'carrying':
      return pageOf(tables, question, ({ carry }) => carry !== null)
    case 'carryingScopes':
      return [
        ...carrying(tables.sessions.values(), question.limit).map((session) => ({ session })),
        ...carrying(tables.turns.values(), question.limit).map((turn) => ({ turn })),
      ]
    case 'waking':
      return rowsOf(tables)
        .filter(({ row: { record } }) => record.wakeTarget === question.session && !hasEnded(record))
        .slice(0, question.limit)
        .map(({ row }) => row.record.pid)
    case 'grants':
      return [...tables.grants.values()].filter(wanted(question)).sort(bySessionAndPid)
    case 'sessions':
      return [...tables.sessions.values()]
        .filter(({ id }) => id > (question.after ?? ''))
        .filter((session) => question.parent === undefined || parentSessionOf(session) === question.parent)
        .sort((a, b) => order(a.id, b.id))
        .slice(0, question.limit)
    case 'events':
      return upTo(
        eventsOf(tables, question.pid).slice(question.after, question.after + question.limit),
        question.bytes,
      )
    case 'tail':
      return tail(eventsOf(tables, question.pid), question)
    case 'changes':
      return changes(tables, question)
    case 'notices':
      return notices(tables, question)
    case 'openNotices':
      return notices(tables, { ...question, open: true }).length
    case 'inbox':
      return tables.inboxes.get(question.scope) ?? null
    case 'overflowing':
      return [...tables.inboxes.values()]
        .filter(({ overflow }) => overflow.tripped !== null)
        .sort((a, b) => order(a.scope, b.scope))
        .slice(0, question.limit)
    case 'account':
      return tables.accounts.get(question.id) ?? null
    case 'accounts':
      return [...tables.accounts.values()]
        .filter((account) => isOpenIn(account, question))
        .sort((a, b) => order(a.id, b.id))
        .slice(0, question.limit)
    case 'schedule':
      return tables.schedules.get(question.id) ?? null
    case 'liens':
      return tables.liens.get(question.host) ?? null
    case 'objectEvent':
      return objectEvent(tables, question)
    case 'objectEvents':
      return objectEvents(tables, question)
    case 'objectVersions':
      return objectVersions(tables, question)
    case 'revocation':
      return tables.revocations.get(question.handle) ?? null
    case 'schedules':
      return [...tables.schedules.values()]
        .filter((schedule) => schedule.id > (question.after ?? ''))
        .filter((schedule) => question.open !== true || isOpenSchedule(schedule))
        .sort((a, b) => order(a.id, b.id))
        .slice(0, question.limit)
    case 'trigger':
      return tables.triggers.get(question.id) ?? null
    case 'triggers':
      return [...tables.triggers.values()]
        .filter(({ id }) => id > (question.after ?? ''))
        .sort((a, b) => order(a.id, b.id))
        .slice(0, question.limit)
    case 'delivery':
      return tables.deliveries.get(question.pid) ?? null
    case 'deliveries':
      return [...tables.deliveries.values()]
        .filter(({ trigger }) => trigger === question.trigger)
        .filter(({ number }) => number < (question.before ?? Number.POSITIVE_INFINITY))
        .sort((a, b) => b.number - a.number)
        .slice(0, question.limit)
    case 'ruleSet':
      return tables.ruleSets.get(question.subject) ?? null
    case 'ruleSets':
      return [...tables.ruleSets.values()]
        .filter(({ subject }) => subject > (question.after ?? ''))
        .sort((a, b) => order(a.subject, b.subject))
        .slice(0, question.limit)
    case 'ruleUse':
      return tables.ruleUses.get(question.id) ?? null
    case 'approval':
      return tables.approvals.get(question.id)?.approval ?? null
    case 'approvals':
      return approvals(tables, question)
    case 'approvalQueue':
      return approvalQueue(tables, question)
    case 'approvalsDue':
      return approvalsDue(tables, question)
    case 'nextApprovalDue':
      return nextApprovalDue(tables, question)
    case 'audit':
      return auditEntries(tables, question)
    case 'auditLinks':
      return auditLinks(tables, question)
    case 'auditTail':
      return auditTail(tables)
    case 'auditWindow':
      return tables.auditWindows.get(question.key) ?? null
    case 'auditWindows':
      return [...tables.auditWindows.values()]
        .filter(({ openedAt }) => openedAt < question.before)
        .sort((a, b) => a.openedAt - b.openedAt || order(a.key, b.key))
        .slice(0, question.limit)
    case 'activity':
      return activity(tables, question)
    case 'prunable':
      return prunable(tables, question, before)
    case 'pruneThrough':
      return pruneThrough(tables, question)
    case 'tombstones':
      return [...tables.tombstones.values()]
        .filter(({ prunedAt }) => prunedAt < question.prunedBefore)
        .sort((a, b) => a.prunedAt - b.prunedAt)
        .slice(0, question.limit)
        .map(({ pid }) => pid)
    case 'storage':
      return storage(tables)
    case 'unreadable':
      return []
    case 'secret':
      return tables.secret
  }
}

function holderRow(held: HeldHolder | undefined, now: () => number): HolderRow | null {
  if (held === undefined) return null
  return { ...held.holder, renewedAt: held.renewedAt, expired: held.expiresAt <= now() }
}

function carrying<Scope extends { readonly carry: boolean }>(
  scopes: Iterable<Scope>,
  limit: number,
): Scope[] {
  return [...scopes].filter(({ carry }) => carry).slice(0, limit)
}

function notices(tables: MemoryTables, question: Questions['notices'][0]): StoredNotice[] {
  const { scope, after, limit, open, newest, pid, positions, kind, toldSince, unobserved } = question
  const found = (tables.notices.get(scope) ?? [])
    .filter(({ position }) => position > after)
    .filter(({ done }) => open !== true || done === null)
    .filter((notice) => pid === undefined || notice.pid === pid)
    .filter(({ position }) => positions === undefined || positions.includes(position))
    .filter((notice) => kind === undefined || notice.kind === kind)
    .filter(({ at }) => toldSince === undefined || at >= toldSince)
    .filter(({ observed }) => unobserved === undefined || !observed.includes(unobserved))
  return newest === true ? found.slice(-limit) : found.slice(0, limit)
}

function changes(tables: MemoryTables, { after, limit }: Questions['changes'][0]): Changes {
  const { feed, position, prunedThrough } = tables
  const from = firstAfter(feed, after)
  return { events: feed.slice(from, from + limit), position, prunedThrough }
}

/** The index in the feed of the first event after a position. */
function firstAfter(feed: readonly StoredEvent[], position: number): number {
  let low = 0
  let high = feed.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((feed[middle]?.position ?? 0) > position) high = middle
    else low = middle + 1
  }
  return low
}

function tail(
  events: readonly StoredEvent[],
  { before = events.length + 1, limit, bytes }: Questions['tail'][0],
): readonly StoredEvent[] {
  const end = Math.max(0, Math.min(before - 1, events.length))
  return upTo(events.slice(Math.max(0, end - limit), end).reverse(), bytes).toReversed()
}

function upTo(events: readonly StoredEvent[], bytes: number | undefined): readonly StoredEvent[] {
  if (bytes === undefined) return events
  let length = 0
  const last = events.findIndex(({ payload }) => {
    length += Buffer.byteLength(JSON.stringify(payload))
    return length >= bytes
  })
  return last === -1 ? events : events.slice(0, last + 1)
}

function wanted({ session, pid }: Questions['grants'][0]): (grant: Grant) => boolean {
  return (grant) =>
    (session === undefined || grant.session === session) && (pid === undefined || grant.pid === pid)
}

function isOpenIn(account: Account, { root, session, after }: Questions['accounts'][0]): boolean {
  return (
    !account.settled &&
    account.id > (after ?? '') &&
    (root === undefined || account.root === root) &&
    (session === undefined || account.session === session)
  )
}

function bySessionAndPid(a: Grant, b: Grant): number {
  return order(a.session, b.session) || order(a.pid, b.pid)
}

function order(a = '', b = ''): number {
  return a < b ? -1 : Number(a > b)
}
