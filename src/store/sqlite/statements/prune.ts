import type { DatabaseSync } from 'node:sqlite'
import type { Pid } from '../../../core/process/pid.ts'
import type { Kind } from '../../../core/process/record.ts'
import type { Carry, Tombstone } from '../../../core/process/row.ts'
import type { EndKey, PruneCandidate, Questions, Storage } from '../../contract.ts'
import { allRows, getRow } from '../rows.ts'

interface Columns {
  readonly id: number
  readonly pid: Pid
  readonly parent: Pid | null
  readonly root: Pid
  readonly fence: number
  readonly endedAt: number | null
  readonly carry: Carry | null
  readonly liveParent: Kind | null
  readonly caller: Pid | null
  readonly toolCall: string | null
  readonly target: string | null
  readonly hasLiveTree: 0 | 1
  readonly isReferenced: 0 | 1
  readonly hasAccount: 0 | 1
}

/** No record has to be readable: a row that cannot be read can be pruned. */
const FACTS = `select p.id, p.pid, p.parent, p.root, p.fence, p.ended_at as endedAt, p.carry, p.target,
    coalesce(above.kind, caller.kind) as liveParent,
    coalesce(case when above.kind = 'agent' then above.pid end, caller.pid) as caller,
    case when json_valid(p.moving) then p.moving ->> '$.owner.toolCall' end as toolCall,
    exists (select 1 from process child where child.parent = p.pid) and (
      exists (select 1 from process top where top.pid = p.root and top.ended_at is null)
      or exists (select 1 from process other where other.root = p.root and other.parent is not null and other.ended_at is null)
    ) as hasLiveTree,
    exists (select 1 from reference join process other on other.pid = reference.referrer
      where reference.pid = p.pid and other.ended_at is null)
      or exists (select 1 from object handle join process holder on holder.id = handle.process
        where handle.target = p.pid and holder.ended_at is null and not exists (select 1 from object later
          where later.process = handle.process and later.name = handle.name and later.seq > handle.seq)) as isReferenced,
    exists (select 1 from account where account.id = 'process:' || p.pid) as hasAccount
  from process p
    left join process above on above.pid = p.parent and above.ended_at is null
    left join process called on called.pid = p.parent and called.ended_at is not null and called.kind = 'tool'
    left join process caller on caller.pid = called.parent and caller.kind = 'agent' and caller.ended_at is null`

/**
 * The newest unread notice of each process, if it has any. Each scope is read once, however many notices it has; text that is
 * not JSON counts as empty.
 */
const UNREAD = `with open as materialized (
    select process, scope, max(position) as position, max(at) as at from notice
    where process in (select value from json_each(?)) and done is null group by process, scope
  ), live as materialized (
    select scope, coalesce((select max(cursor.value ->> '$.through') from inbox,
        json_each(case when json_valid(inbox.body) then inbox.body else '{}' end, '$.consumers') cursor
        where inbox.scope = told.scope), 0) as through
    from (select distinct scope from open) told
    where case substr(scope, 1, 8)
      when 'session:' then exists (select 1 from session where id = substr(scope, 9)
        and case when json_valid(body) then body ->> '$.endedAt' end is null)
      when 'process:' then exists (select 1 from process where pid = substr(scope, 9) and ended_at is null)
      else 0
    end
  )
  select process, max(open.at) as at from open join live on live.scope = open.scope where open.position > live.through
  group by process`

/** Each statement removes the rows of a whole batch from one table. */
export function pruneStatements(db: DatabaseSync) {
  const before = db.prepare(
    'select ended_at as endedAt, id from process where ended_at < ? order by ended_at desc, id desc limit 1',
  )
  const beyond = db.prepare(
    'select ended_at as endedAt, id from process where ended_at is not null order by ended_at desc, id desc limit 1 offset ?',
  )
  const ended = db.prepare(
    'select count(*) as ended, min(ended_at) as oldestEndedAt from process where ended_at is not null',
  )
  const bytes = db.prepare('select page_count * page_size as bytes from pragma_page_count, pragma_page_size')
  const inRange = db.prepare(`${FACTS} where p.ended_at >= ?1 and p.ended_at <= ?3
    and (p.ended_at > ?1 or p.id > ?2) and (p.ended_at < ?3 or p.id <= ?4) order by p.ended_at, p.id limit ?5`)
  const byPid = db.prepare(`${FACTS} where p.pid in (select value from json_each(?))`)
  const unread = db.prepare(UNREAD)
  const lastPosition = db.prepare(
    'select max(position) as position from event where process in (select value from json_each(?))',
  )
  const removals = ['event', 'notice', 'below_session', 'blob_reference', 'object'].map((table) =>
    db.prepare(`delete from ${table} where process in (select value from json_each(?))`),
  )
  const removalsByPid = ['visible', 'approval'].map((table) =>
    db.prepare(`delete from ${table} where pid in (select value from json_each(?))`),
  )
  const removeProcesses = db.prepare('delete from process where id in (select value from json_each(?))')
  const releaseEnvironments = db.prepare(
    `delete from environment_use where used_by in (select 'process:' || value from json_each(?)) returning ref`,
  )
  const dropUnused = db.prepare(`delete from environment where ref in (select value from json_each(?))
    and not exists (select 1 from environment_use where environment_use.ref = environment.ref)`)
  const entomb = db.prepare(`insert into tombstone (pid, fence, ended_at, pruned_at)
    select value ->> 0, value ->> 1, value ->> 2, value ->> 3 from json_each(?) order by 1`)
  const tombstone = db.prepare(
    'select pid, fence, ended_at as endedAt, pruned_at as prunedAt from tombstone where pid = ?',
  )
  const oldTombstones = db.prepare('select pid from tombstone where pruned_at < ? order by pruned_at limit ?')
  const dropTombstones = db.prepare('delete from tombstone where pid in (select value from json_each(?))')
  const refer = db.prepare('insert into reference (pid, referrer) values (?, ?) on conflict do nothing')
  const unrefer = db.prepare('delete from reference where pid = ? and referrer = ?')

  return {
    storage(): Storage {
      const found = ended.get()
      return {
        ended: Number(found?.['ended']),
        oldestEndedAt: (found?.['oldestEndedAt'] as number | null | undefined) ?? null,
        bytes: Number(bytes.get()?.['bytes']),
      }
    },

    through({ endedBefore, keep }: Questions['pruneThrough'][0]): EndKey | null {
      const old = endedBefore === null ? undefined : before.get(endedBefore)
      const many = keep === null ? undefined : beyond.get(keep)
      const [first, second] = [old, many].filter((found) => found !== undefined).map(endKeyFrom)
      if (first === undefined || second === undefined) return first ?? null
      return isAfter(first, second) ? first : second
    },

    /** `justWritten` are the processes for which the open transaction has appended events. */
    candidates(question: Questions['prunable'][0], justWritten: ReadonlySet<Pid>): PruneCandidate[] {
      const rows =
        'pids' in question
          ? allRows<Columns>(byPid, JSON.stringify(question.pids))
          : allRows<Columns>(
              inRange,
              question.after?.endedAt ?? 0,
              question.after?.id ?? 0,
              question.through.endedAt,
              question.through.id,
              question.limit,
            )
      const unreadAt = new Map(
        unread.all(JSON.stringify(rows.map(({ id }) => id))).map(({ process, at }) => [process, at]),
      ) as Map<number, number>
      return rows.map(
        ({ hasLiveTree, isReferenced, hasAccount, ...facts }): PruneCandidate => ({
          ...facts,
          isCommitted: !justWritten.has(facts.pid),
          hasLiveTree: hasLiveTree === 1,
          isReferenced: isReferenced === 1,
          hasAccount: hasAccount === 1,
          unreadAt: unreadAt.get(facts.id) ?? null,
        }),
      )
    },

    /** Removes these processes and everything that belongs to them. Returns the last position of their events. */
    prune(tombstones: readonly Tombstone[], ids: readonly number[]): number {
      const pids = JSON.stringify(tombstones.map(({ pid }) => pid))
      const numbers = JSON.stringify(ids)
      const last = Number(lastPosition.get(numbers)?.['position'] ?? 0)
      for (const removal of removals) removal.run(numbers)
      for (const removal of removalsByPid) removal.run(pids)
      removeProcesses.run(numbers)
      const refs = releaseEnvironments.all(pids).map(({ ref }) => ref)
      if (refs.length > 0) dropUnused.run(JSON.stringify(refs))
      const rows = tombstones.map(({ pid, fence, endedAt, prunedAt }) => [pid, fence, endedAt, prunedAt])
      entomb.run(JSON.stringify(rows))
      return last
    },

    tombstone(pid: Pid): Tombstone | null {
      const found = getRow<Tombstone>(tombstone, pid)
      return found === undefined ? null : { ...found }
    },
    oldTombstones: ({ prunedBefore, limit }: Questions['tombstones'][0]): Pid[] =>
      oldTombstones.all(prunedBefore, limit).map(({ pid }) => String(pid)),
    dropTombstones: (pids: readonly Pid[]) => dropTombstones.run(JSON.stringify(pids)),

    changeReferences(
      referrer: Pid,
      { added, removed }: { readonly added: readonly Pid[]; readonly removed: readonly Pid[] },
    ): void {
      for (const pid of added) refer.run(pid, referrer)
      for (const pid of removed) unrefer.run(pid, referrer)
    },
  }
}

function endKeyFrom(found: Record<string, unknown>): EndKey {
  return { endedAt: Number(found['endedAt']), id: Number(found['id']) }
}

function isAfter(a: EndKey, b: EndKey): boolean {
  return a.endedAt > b.endedAt || (a.endedAt === b.endedAt && a.id > b.id)
}
