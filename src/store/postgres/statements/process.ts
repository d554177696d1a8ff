import type { Pid } from '../../../core/process/pid.ts'
import type { ProcessRow } from '../../../core/process/row.ts'
import { type ProcessColumns, processRow } from '../../columns.ts'
import type { Activity, Page, Questions } from '../../contract.ts'
import type { UnreadableRows } from '../../unreadable.ts'
import type { Link, Value } from '../link.ts'
import { Values, visibleRows } from './conditions.ts'

/** A row with the number that orders it in lists, and the version that a commit compares. */
export interface NumberedRow {
  readonly id: number
  readonly version: number
  readonly row: ProcessRow
}

export interface VersionedColumns extends ProcessColumns {
  readonly version: number
}

type Served = Questions['claimable'][0]['serves'][number]

/** The columns of a row, with the fixed half of its record from its first event, and its outcome from its last. */
export function selectProcess(at: string): string {
  return `select id, pid, version, fence, holder, carry, created_at, moving,
    (select payload from ${at}event e where e.pid = process.pid and e.seq = 1) as payload,
    case when ended_at is not null then
      (select payload from ${at}event e where e.pid = process.pid and e.seq = process.revision) end as ending`
}

/** `onRow` is called with every row in an answer. */
export function processStatements(
  link: Link,
  at: string,
  onRow: (found: NumberedRow) => void,
  unreadable: UnreadableRows,
) {
  const one = async <Row extends object>(text: string, values: readonly Value[] = []) =>
    (await link.query<Row>(text, values))[0]
  const columns = (text: string, values: readonly Value[]) =>
    link.query<VersionedColumns>(`${selectProcess(at)} from ${at}process as process where ${text}`, values)
  /** Skips rows that cannot be read. */
  const readable = (found: readonly VersionedColumns[]): NumberedRow[] =>
    found.flatMap((one) => {
      const row = unreadable.readOrSkip(one.pid, () => numbered(one))
      if (row === undefined) return []
      onRow(row)
      return [row]
    })
  const page = async (text: string, values: readonly Value[], limit: number): Promise<Page<ProcessRow>> => {
    const found = await columns(text, values)
    return {
      items: readable(found).map(({ row }) => row),
      next: found.length < limit ? null : (found.at(-1)?.id ?? null),
    }
  }
  const pids = async (text: string, values: readonly Value[]) =>
    (await link.query<{ pid: Pid }>(text, values)).map(({ pid }) => pid)

  return {
    async read(wanted: readonly Pid[]): Promise<NumberedRow[]> {
      const found = await columns('pid = any ($1)', [wanted])
      if (unreadable.size > 0 && found.length < wanted.length) {
        const there = new Set(found.map(({ pid }) => pid))
        unreadable.forget(wanted.filter((pid) => !there.has(pid)))
      }
      return readable(found)
    },

    pids({ prefix, visibleTo, limit }: Questions['pids'][0]): Promise<Pid[]> {
      const values = new Values()
      const text = `select pid from ${at}process as process
        where pid >= ${values.add(prefix)} and pid < ${values.add(`${prefix}~`)}
          and ${visibleRows(at, visibleTo, values)} order by pid limit ${values.add(limit)}`
      return pids(text, values.all)
    },

    held: ({ holder, after, limit }: Questions['held'][0]) =>
      page('holder = $1 and id > $2 order by id limit $3', [holder, after ?? 0, limit], limit),

    carrying: ({ after, limit }: Questions['carrying'][0]) =>
      page('carry is not null and id > $1 order by id limit $2', [after ?? 0, limit], limit),

    waking: ({ session, limit }: Questions['waking'][0]): Promise<Pid[]> =>
      pids(`select pid from ${at}process where wake_target = $1 and ended_at is null limit $2`, [
        session,
        limit,
      ]),

    async claimable({ serves, here, at: time, limit }: Questions['claimable'][0]): Promise<Pid[]> {
      if (serves.length === 0) return []
      const values = new Values()
      const [until, most] = [values.add(time), values.add(limit + unreadable.size)]
      const placed = placedAt(here, values)
      const parts = serves.map(
        (served) => `(select id, pid from ${at}process where ${servedBy(served, values)} and ${placed}
          and due <= ${until}
          order by id limit ${most})`,
      )
      const found = await pids(
        `select pid from (${parts.join(' union ')}) as found order by id limit ${most}`,
        values.all,
      )
      return found.filter((pid) => !unreadable.has(pid)).slice(0, limit)
    },

    async nextDue({ serves, here, at: time }: Questions['nextDue'][0]): Promise<number | null> {
      if (serves.length === 0) return null
      const values = new Values()
      const after = values.add(time)
      const placed = placedAt(here, values)
      const parts = serves.map(
        (served) =>
          `(select min(due) from ${at}process where ${servedBy(served, values)} and ${placed}
            and due > ${after})`,
      )
      return (
        (await one<{ due: number | null }>(`select least(${parts.join(', ')}) as due`, values.all))?.due ??
        null
      )
    },

    async activity({ session, since }: Questions['activity'][0]): Promise<Activity> {
      const live = `select count(*) as live, max(created_at) as "newestAt" from ${at}process where ended_at is null`
      const found =
        session !== null
          ? await one<Activity>(
              `select count(*) as live, max(created_at) as "newestAt" from (
                select created_at from ${at}process where ended_at is null and session = $1
                union all select process.created_at from ${at}below_session as below_session
                  join ${at}process as process on process.id = below_session.process
                  where below_session.session = $1 and not below_session.is_ended
              ) as found where created_at >= $2`,
              [session, since ?? 0],
            )
          : since !== null
            ? await one<Activity>(`${live} and created_at >= $1`, [since])
            : await one<Activity>(`select live, (select created_at from ${at}process where ended_at is null
                order by id desc limit 1) as "newestAt" from ${at}meta`)
      return found ?? { live: 0, newestAt: null }
    },
  }
}

function placedAt(here: Questions['claimable'][0]['here'], values: Values): string {
  return `(placement is null or placement = any (${values.add(here)}))`
}

function servedBy({ kind, targets }: Served, values: Values): string {
  const ofKind = `kind = ${values.add(kind)} and due is not null`
  return targets === null ? ofKind : `${ofKind} and target = any (${values.add(targets)})`
}

export function numbered(columns: VersionedColumns): NumberedRow {
  return { id: columns.id, version: columns.version, row: processRow(columns) }
}
