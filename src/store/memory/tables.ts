import type { Account } from '../../core/allowance/account.ts'
import { isVisible, type Visibility } from '../../core/authority/visibility.ts'
import type { Notice } from '../../core/inbox/notice.ts'
import { type HolderRow, isServed } from '../../core/lease/holder.ts'
import { isPlacedAt } from '../../core/placement/placement.ts'
import type { StoredEvent } from '../../core/process/event.ts'
import { matches } from '../../core/process/filter.ts'
import type { Pid } from '../../core/process/pid.ts'
import { hasEnded, targetOf } from '../../core/process/record.ts'
import type { ProcessRow } from '../../core/process/row.ts'
import type { Grant } from '../../core/session/grant.ts'
import type {
  Activity,
  Change,
  Changes,
  Commit,
  Page,
  Question,
  Questions,
  StoredNotice,
} from '../contract.ts'
import { becameLive, dueOf } from '../due.ts'
import type { Transaction } from '../group-commit.ts'
import type { HeldHolder, MemoryTables, NumberedRow } from './memory-tables.ts'
import { prunable, pruneThrough, storage } from './prunable.ts'

/**
 * One store's way to the shared tables. Changes are made in place and taken back on rollback: a transaction is
 * synchronous, so nobody looks in between.
 */
export class Tables implements Transaction {
  readonly #tables: MemoryTables
  readonly #now: () => number
  readonly #committed: () => void
  /** Takes back what this transaction did, last first. */
  #undo: (() => void)[] = []
  /** The position before the transaction under way; outside of one, beyond all. */
  #before = Number.POSITIVE_INFINITY
  #events: StoredEvent[] = []
  /** Whether this transaction moved the feed: appended to it, or pruned. */
  #counted = false

  constructor(tables: MemoryTables, now: () => number, committed: () => void) {
    this.#tables = tables
    this.#now = now
    this.#committed = committed
  }

  begin(): void {
    this.#undo = []
    this.#before = this.#tables.position
    this.#events = []
    this.#counted = false
  }

  commit(): Commit | null {
    const changed = this.#undo.length > 0
    this.#undo = []
    const after = this.#before
    this.#before = Number.POSITIVE_INFINITY
    if (changed) this.#committed()
    return this.#counted ? { after, position: this.#tables.position, events: this.#events } : null
  }

  rollback(): void {
    for (const back of this.#undo.splice(0).reverse()) back()
    this.#before = Number.POSITIVE_INFINITY
  }

  isBusy = (): boolean => false
  isOwn = (error: unknown): boolean => error instanceof ConstraintError
  trouble = (error: unknown): unknown => error

  answer(question: Question): unknown {
    const tables = this.#tables
    switch (question.ask) {
      case 'process':
        return tables.processes.get(question.pid)?.row ?? null
      case 'tombstone':
        return tables.tombstones.get(question.pid) ?? null
      case 'session':
        return tables.sessions.get(question.id) ?? null
      case 'turn':
        return tables.turns.get(pair(question.session, question.id)) ?? null
      case 'group':
        return tables.groups.get(question.id) ?? null
      case 'environment':
        return tables.environments.get(question.ref) ?? null
      case 'environments':
        return this.#environmentsOf(question.usedBy).slice(0, question.limit)
      case 'holder':
        return this.#holder(tables.holders.get(question.id))
      case 'announced':
        return tables.holders.has(question.id)
      case 'event':
        return tables.events.get(question.pid)?.byReplayKey.get(question.replayKey) ?? null
      case 'eventAt':
        return this.#eventsOf(question.pid)[question.seq - 1] ?? null
      case 'pids':
        return [...tables.processes.values()]
          .filter(({ row: { record } }) => record.pid.startsWith(question.prefix))
          .filter(({ row }) => this.#isVisible(row, question.visibleTo))
          .map(({ row }) => row.record.pid)
          .sort()
          .slice(0, question.limit)
      case 'processes':
        return this.#list(question)
      case 'claimable':
        return this.#due(question)
          .filter(({ due }) => due <= question.at)
          .sort((a, b) => a.id - b.id)
          .slice(0, question.limit)
          .map(({ pid }) => pid)
      case 'nextDue':
        return earliest(
          this.#due(question)
            .map(({ due }) => due)
            .filter((due) => due > question.at),
        )
      case 'held':
        return this.#page(question, ({ holder }) => holder === question.holder)
      case 'holders':
        return [...tables.holders.values()]
          .map((held) => this.#holder(held))
          .sort((a, b) => order(a?.id, b?.id))
      case 'unannounced':
        return this.#unannounced()
      case 'carrying':
        return this.#page(question, ({ carry }) => carry !== null)
      case 'carryingScopes':
        return [
          ...[...tables.sessions.values()]
            .filter(({ carry }) => carry)
            .slice(0, question.limit)
            .map((session) => ({ session })),
          ...[...tables.turns.values()]
            .filter(({ carry }) => carry)
            .slice(0, question.limit)
            .map((turn) => ({ turn })),
        ]
      case 'waking':
        return this.#rows()
          .filter(({ row: { record } }) => record.wakeTarget === question.session && !hasEnded(record))
          .slice(0, question.limit)
          .map(({ row }) => row.record.pid)
      case 'grants':
        return [...tables.grants.values()].filter(wanted(question)).sort(bySessionAndPid)
      case 'sessions':
        return [...tables.sessions.values()]
          .filter(({ id }) => id > (question.after ?? ''))
          .sort((a, b) => order(a.id, b.id))
          .slice(0, question.limit)
      case 'events':
        return upTo(
          this.#eventsOf(question.pid).slice(question.after, question.after + question.limit),
          question.bytes,
        )
      case 'tail':
        return question.limit === 0 ? [] : this.#eventsOf(question.pid).slice(-question.limit)
      case 'changes':
        return this.#changes(question)
      case 'notices':
        return this.#notices(question)
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
      case 'activity':
        return this.#activity(question)
      case 'prunable':
        return prunable(tables, question, this.#before)
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

  apply(change: Change): void {
    const tables = this.#tables
    switch (change.type) {
      case 'process':
        this.#applyProcess(change)
        return
      case 'prune':
        this.#applyPrune(change)
        return
      case 'tombstones_gone':
        for (const pid of change.pids) this.#remove(tables.tombstones, pid)
        return
      case 'notice':
        this.#applyNotice(change.notice)
        return
      case 'drop_notices':
        this.#remove(tables.notices, change.scope)
        this.#remove(tables.inboxes, change.scope)
        return
      case 'notices_done':
        this.#changeNotices(change.scope, (notice) =>
          change.places.includes(notice.place) && notice.done === null
            ? { ...notice, done: change.how }
            : notice,
        )
        return
      case 'notice_observed':
        this.#changeNotices(change.scope, (notice) =>
          notice.place === change.place ? { ...notice, observed: [...change.turns] } : notice,
        )
        return
      case 'inbox':
        this.#put(tables.inboxes, change.inbox.scope, asStored(change.inbox))
        return
      case 'account':
        this.#put(tables.accounts, change.account.id, asStored(change.account))
        return
      case 'account_gone':
        this.#remove(tables.accounts, change.id)
        return
      case 'group':
        this.#put(tables.groups, change.group.id, asStored(change.group))
        return
      case 'group_gone':
        this.#remove(tables.groups, change.id)
        return
      case 'session_gone':
        this.#remove(tables.sessions, change.id)
        for (const [key, turn] of tables.turns)
          if (turn.session === change.id) this.#remove(tables.turns, key)
        for (const ref of this.#environmentsOf(`session:${change.id}`))
          this.#endUse(ref, `session:${change.id}`)
        return
      case 'session':
        this.#put(tables.sessions, change.session.id, asStored(change.session))
        return
      case 'turn':
        this.#put(tables.turns, pair(change.turn.session, change.turn.id), asStored(change.turn))
        return
      case 'grant': {
        const key = pair(change.grant.session, change.grant.pid)
        const at = tables.grants.get(key)?.at ?? change.grant.at
        this.#put(tables.grants, key, { ...asStored(change.grant), at })
        return
      }
      case 'revoke':
        this.#remove(tables.grants, pair(change.session, change.pid))
        return
      case 'environment':
        if (!tables.environments.has(change.ref)) {
          this.#put(tables.environments, change.ref, asStored(change.environment))
        }
        return
      case 'environment_used':
        if (tables.environmentUses.has(pair(change.by, change.ref))) return
        this.#put(tables.environmentUses, pair(change.by, change.ref), {
          ...{ by: change.by, ref: change.ref, place: tables.nextUse },
        })
        this.#assign('nextUse', tables.nextUse + 1)
        return
      case 'environment_unused':
        this.#endUse(change.ref, change.by)
        return
      case 'holder': {
        const renewedAt = this.#now()
        const held = { holder: asStored(change.holder), renewedAt, expiresAt: renewedAt + change.ttlMs }
        this.#put(tables.holders, change.holder.id, held)
        return
      }
      case 'holder_gone':
        this.#remove(tables.holders, change.id)
        return
    }
  }

  #applyProcess({ was, row, events }: Extract<Change, { type: 'process' }>): void {
    const tables = this.#tables
    const { pid } = row.record
    const known = tables.processes.get(pid)
    if (was === null && known !== undefined) throw new ConstraintError(`${pid} exists already`)
    if (was !== null && known === undefined) throw new Error(`A change of ${pid}, which is not there`)
    const id = known?.id ?? tables.nextId
    if (known === undefined) this.#assign('nextId', id + 1)
    // Copies, as from a disk: nobody holds a reference into the tables, and what JSON cannot keep is not kept.
    const stored = was !== null && was.record === row.record ? (known?.row.record ?? row.record) : row.record
    this.#put(tables.processes, pid, {
      id,
      row: { ...row, record: stored === row.record ? asStored(row.record) : stored },
    })
    if (events.length === 0) return
    this.#counted = true
    this.#assign('live', tables.live + becameLive(was, row))
    for (const event of events) this.#append({ ...asStored(event), position: tables.position + 1 })
  }

  #append(event: StoredEvent): void {
    const tables = this.#tables
    const { pid, seq, replayKey } = event
    if (!tables.events.has(pid)) this.#put(tables.events, pid, { events: [], byReplayKey: new Map() })
    const log = tables.events.get(pid)
    if (log === undefined || seq !== log.events.length + 1) {
      throw new ConstraintError(`Event ${seq} of ${pid} does not follow its last`)
    }
    if (replayKey !== null && log.byReplayKey.has(replayKey)) {
      throw new ConstraintError(`${pid} has an event under the replay key ${replayKey} already`)
    }
    this.#assign('position', event.position)
    this.#push(log.events, event)
    this.#push(tables.feed, event)
    if (replayKey !== null) this.#put(log.byReplayKey, replayKey, event)
    this.#events.push(event)
  }

  #applyNotice(notice: Notice): void {
    const tables = this.#tables
    const { scope, pid, seq, kind } = notice
    if (!tables.notices.has(scope)) this.#put(tables.notices, scope, [])
    const told = tables.notices.get(scope) ?? []
    if (told.some((other) => other.pid === pid && other.seq === seq && other.kind === kind)) {
      throw new ConstraintError(`${scope} has been told of event ${seq} of ${pid} already`)
    }
    this.#push(told, { ...asStored(notice), place: tables.nextPlace, done: null, observed: [] })
    this.#assign('nextPlace', tables.nextPlace + 1)
  }

  #changeNotices(scope: string, changed: (notice: StoredNotice) => StoredNotice): void {
    const { notices } = this.#tables
    this.#put(notices, scope, (notices.get(scope) ?? []).map(changed))
  }

  #applyPrune({ tombstones }: Extract<Change, { type: 'prune' }>): void {
    const tables = this.#tables
    const gone = new Set(tombstones.map(({ pid }) => pid))
    this.#counted = true
    for (const tombstone of tombstones) {
      const { pid } = tombstone
      if (!tables.processes.has(pid)) throw new Error(`A change of ${pid}, which is not there`)
      const last = this.#eventsOf(pid).at(-1)?.position ?? 0
      this.#assign('prunedThrough', Math.max(tables.prunedThrough, last))
      this.#remove(tables.processes, pid)
      this.#remove(tables.events, pid)
      for (const ref of this.#environmentsOf(`process:${pid}`)) this.#endUse(ref, `process:${pid}`)
      this.#put(tables.tombstones, pid, asStored(tombstone))
    }
    this.#assign(
      'feed',
      tables.feed.filter((event) => !gone.has(event.pid)),
    )
    for (const [scope, told] of tables.notices) {
      const left = told.filter((notice) => !gone.has(notice.pid))
      if (left.length < told.length) this.#put(tables.notices, scope, left)
    }
    for (const [key, grant] of tables.grants) if (gone.has(grant.pid)) this.#remove(tables.grants, key)
  }

  #environmentsOf(usedBy: string): string[] {
    return [...this.#tables.environmentUses.values()]
      .filter(({ by }) => by === usedBy)
      .sort((a, b) => a.place - b.place)
      .map(({ ref }) => ref)
  }

  #endUse(ref: string, by: string): void {
    const { environmentUses, environments } = this.#tables
    if (!environmentUses.has(pair(by, ref))) return
    this.#remove(environmentUses, pair(by, ref))
    if (![...environmentUses.values()].some((use) => use.ref === ref)) this.#remove(environments, ref)
  }

  #put<Value>(map: Map<string, Value>, key: string, value: Value): void {
    const before = map.get(key)
    map.set(key, value)
    this.#undo.push(() => (before === undefined ? map.delete(key) : map.set(key, before)))
  }

  #push<Item>(list: Item[], item: Item): void {
    list.push(item)
    this.#undo.push(() => list.pop())
  }

  #remove<Value>(map: Map<string, Value>, key: string): void {
    const before = map.get(key)
    if (before === undefined) return
    map.delete(key)
    this.#undo.push(() => map.set(key, before))
  }

  #assign<Name extends 'nextId' | 'nextPlace' | 'nextUse' | 'position' | 'prunedThrough' | 'live' | 'feed'>(
    name: Name,
    value: MemoryTables[Name],
  ): void {
    const before = this.#tables[name]
    this.#tables[name] = value
    this.#undo.push(() => {
      this.#tables[name] = before
    })
  }

  /** In order of registration: taking back a removal puts a row at the end of its map. */
  #rows(): NumberedRow[] {
    return [...this.#tables.processes.values()].sort((a, b) => a.id - b.id)
  }

  #eventsOf(pid: Pid): readonly StoredEvent[] {
    return this.#tables.events.get(pid)?.events ?? []
  }

  #holder(held: HeldHolder | undefined): HolderRow | null {
    if (held === undefined) return null
    return { ...held.holder, renewedAt: held.renewedAt, expired: held.expiresAt <= this.#now() }
  }

  #unannounced(): string[] {
    const holding = this.#rows().flatMap(({ row }) => (row.holder === null ? [] : [row.holder]))
    return [...new Set(holding)].filter((id) => !this.#tables.holders.has(id))
  }

  #due({ serves, here }: Questions['nextDue'][0]) {
    return this.#rows().flatMap(({ id, row }) => {
      const { pid, kind, spec, placement } = row.record
      const due = dueOf(row)
      if (due === null || !isPlacedAt(placement, here)) return []
      return isServed(serves, kind, targetOf(kind, spec)) ? [{ id, pid, due }] : []
    })
  }

  #notices(question: Questions['notices'][0]): StoredNotice[] {
    const { scope, after, limit, open, newest, pid, places, toldSince, unobserved } = question
    const found = (this.#tables.notices.get(scope) ?? [])
      .filter(({ place }) => place > after)
      .filter(({ done }) => open !== true || done === null)
      .filter((notice) => pid === undefined || notice.pid === pid)
      .filter(({ place }) => places === undefined || places.includes(place))
      .filter(({ at }) => toldSince === undefined || at >= toldSince)
      .filter(({ observed }) => unobserved === undefined || !observed.includes(unobserved))
    return newest === true ? found.slice(-limit) : found.slice(0, limit)
  }

  #isVisible({ record }: ProcessRow, visibleTo: Visibility | undefined): boolean {
    if (visibleTo === undefined) return true
    const isGranted =
      visibleTo.type === 'session' && this.#tables.grants.has(pair(visibleTo.session, record.pid))
    return isVisible(record, visibleTo, isGranted)
  }

  #list({ filter, visibleTo, newestFirst, after, limit }: Questions['processes'][0]): Page<ProcessRow> {
    const rows = newestFirst === true ? this.#rows().reverse() : this.#rows()
    const beyond = (id: number) => after === null || (newestFirst === true ? id < after : id > after)
    return page(
      rows.filter(
        ({ id, row }) => beyond(id) && matches(row.record, filter) && this.#isVisible(row, visibleTo),
      ),
      limit,
    )
  }

  #page(place: { after: number | null; limit: number }, wants: (row: ProcessRow) => boolean) {
    return page(
      this.#rows().filter(({ id, row }) => id > (place.after ?? 0) && wants(row)),
      place.limit,
    )
  }

  #changes({ after, limit }: Questions['changes'][0]): Changes {
    const { feed, position, prunedThrough } = this.#tables
    const from = firstAfter(feed, after)
    return { events: feed.slice(from, from + limit), position, prunedThrough }
  }

  #activity({ session, since }: Questions['activity'][0]): Activity {
    const live = this.#rows()
      .map(({ row }) => row.record)
      .filter((record) => !hasEnded(record) && (session === null || record.owner.session === session))
      .filter(({ createdAt }) => createdAt >= (since ?? 0))
    const newestAt = live.length === 0 ? null : Math.max(...live.map(({ createdAt }) => createdAt))
    return { live: live.length, newestAt }
  }
}

/** A change that the tables cannot hold: its plan's own fault. */
class ConstraintError extends Error {
  override readonly name = 'ConstraintError'
}

function page(rows: readonly NumberedRow[], limit: number): Page<ProcessRow> {
  const items = rows.slice(0, limit)
  return {
    items: items.map(({ row }) => row),
    next: items.length < limit ? null : (items.at(-1)?.id ?? null),
  }
}

/** Where in the feed the first event after a position lies. */
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

function asStored<Thing>(thing: Thing): Thing {
  return JSON.parse(JSON.stringify(thing)) as Thing
}

function pair(first: string, second: string): string {
  return JSON.stringify([first, second])
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

function earliest(times: readonly number[]): number | null {
  return times.length === 0 ? null : Math.min(...times)
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
