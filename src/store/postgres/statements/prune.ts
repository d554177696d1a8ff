import type { Pid } from '../../../core/process/pid.ts'
import type { Tombstone } from '../../../core/process/row.ts'
import type { EndKey, PruneCandidate, Questions, Storage } from '../../contract.ts'
import type { Link } from '../link.ts'

type Columns = Omit<PruneCandidate, 'isCommitted' | 'unreadAt'>

/**
 * The facts that prunes are decided on; `prune_processes` removes the rows. No record is parsed: the text of one begins with its owner, whose
 * members are texts.
 */
export function pruneStatements(link: Link, at: string) {
  const facts = `select p.id, p.pid, p.parent, p.root, p.fence, p.ended_at as "endedAt", p.carry, p.target,
      coalesce(above.kind, caller.kind) as "liveParent",
      coalesce(case when above.kind = 'agent' then above.pid end, caller.pid) as caller,
      substring(p.moving from '^\\{"owner":\\{[^{}]*"toolCall":"([^"]*)"') as "toolCall",
      exists (select from ${at}process child where child.parent = p.pid) and (
        exists (select from ${at}process top where top.pid = p.root and top.ended_at is null)
        or exists (select from ${at}process other
          where other.root = p.root and other.parent is not null and other.ended_at is null)
      ) as "hasLiveTree",
      exists (select from ${at}reference r join ${at}process q on q.pid = r.referrer
        where r.pid = p.pid and q.ended_at is null)
      or exists (select from ${at}object o join ${at}process q on q.pid = o.pid
        where o.target = p.pid and q.ended_at is null and not exists (select from ${at}object later
          where later.pid = o.pid and later.name = o.name and later.seq > o.seq)) as "isReferenced",
      exists (select from ${at}account a where a.id = 'process:' || p.pid) as "hasAccount"
    from ${at}process p
      left join ${at}process above on above.pid = p.parent and above.ended_at is null
      left join ${at}process called on called.pid = p.parent and called.ended_at is not null and called.kind = 'tool'
      left join ${at}process caller on caller.pid = called.parent and caller.kind = 'agent' and caller.ended_at is null`
  // Each scope is read once, however many notices it has. No text is parsed: in JSON within JSON every quote is escaped, so
  // these patterns match members alone.
  const unread = `with open as materialized (
      select n.pid, n.scope, max(n.position) as position, max(n.at) as at from ${at}notice n
      where n.pid = any ($1) and n.done is null group by n.pid, n.scope
    ), live as materialized (
      select told.scope, coalesce((select max(found[1]::bigint)
          from ${at}inbox i, regexp_matches(i.body, '"through":([0-9]+)', 'g') as found
          where i.scope = told.scope), 0) as through
      from (select distinct scope from open) told
      where case substr(told.scope, 1, 8)
        when 'session:' then exists (select from ${at}session s
          where s.id = substr(told.scope, 9) and s.body !~ '"endedAt":[0-9]')
        when 'process:' then exists (select from ${at}process q
          where q.pid = substr(told.scope, 9) and q.ended_at is null)
        else false
      end
    )
    select o.pid, max(o.at) as at from open o join live l on l.scope = o.scope where o.position > l.through group by o.pid`
  const endKey = `select ended_at as "endedAt", id from ${at}process where`
  const lastFirst = 'order by ended_at desc, id desc limit 1'

  return {
    async storage(): Promise<Storage> {
      const [found] = await link.query<Storage>(
        `select count(*)::int as ended, min(ended_at) as "oldestEndedAt",
          pg_total_relation_size('${at}process') + pg_total_relation_size('${at}event')
            + pg_total_relation_size('${at}notice') as bytes
          from ${at}process where ended_at is not null`,
        [],
      )
      return { ended: 0, oldestEndedAt: null, bytes: null, ...found }
    },

    async through({ endedBefore, keep }: Questions['pruneThrough'][0]): Promise<EndKey | null> {
      const found = await Promise.all([
        endedBefore === null ? [] : link.query<EndKey>(`${endKey} ended_at < $1 ${lastFirst}`, [endedBefore]),
        keep === null
          ? []
          : link.query<EndKey>(`${endKey} ended_at is not null ${lastFirst} offset $1`, [keep]),
      ])
      const [first, second] = found.flat()
      if (first === undefined || second === undefined) return first === undefined ? null : { ...first }
      const isFirst =
        first.endedAt > second.endedAt || (first.endedAt === second.endedAt && first.id > second.id)
      return isFirst ? { ...first } : { ...second }
    },

    async candidates(question: Questions['prunable'][0]): Promise<PruneCandidate[]> {
      const found =
        'pids' in question
          ? await link.query<Columns>(`${facts} where p.pid = any ($1)`, [question.pids])
          : await link.query<Columns>(
              `${facts} where p.ended_at is not null and (p.ended_at, p.id) > ($1, $2) and (p.ended_at, p.id) <= ($3, $4)
                order by p.ended_at, p.id limit $5`,
              [
                question.after?.endedAt ?? 0,
                question.after?.id ?? 0,
                question.through.endedAt,
                question.through.id,
                question.limit,
              ],
            )
      const pids = found.map(({ pid }) => pid)
      const told = await link.query<{ pid: Pid; at: number }>(unread, [pids])
      const unreadAt = new Map(told.map(({ pid, at }) => [pid, at]))
      // The database answers lists alone, after earlier plans of the batch have been committed.
      return found.map((columns) => ({
        ...columns,
        isCommitted: true,
        unreadAt: unreadAt.get(columns.pid) ?? null,
      }))
    },

    tombstones: async (wanted: readonly Pid[]): Promise<Tombstone[]> => [
      ...(await link.query<Tombstone>(
        `select pid, fence, ended_at as "endedAt", pruned_at as "prunedAt" from ${at}tombstone where pid = any ($1)`,
        [wanted],
      )),
    ],

    oldTombstones: async ({ prunedBefore, limit }: Questions['tombstones'][0]): Promise<Pid[]> =>
      (
        await link.query<{ pid: Pid }>(
          `select pid from ${at}tombstone where pruned_at < $1 order by pruned_at limit $2`,
          [prunedBefore, limit],
        )
      ).map(({ pid }) => pid),
  }
}
