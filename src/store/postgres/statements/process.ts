import { isVisible, type Visibility } from '../../../core/authority/visibility.ts'
import { type Filter, matches } from '../../../core/process/filter.ts'
import type { Pid } from '../../../core/process/pid.ts'
import type { Carry, ProcessRow } from '../../../core/process/row.ts'
import type { Activity, Page, Questions } from '../../contract.ts'
import { recordFrom } from '../../record-text.ts'
import type { Link, Value } from '../link.ts'

/** A row with its number in lists, and the version that a commit compares. */
export interface NumberedRow {
  readonly id: number
  readonly version: number
  readonly row: ProcessRow
}

interface Columns {
  readonly id: number
  readonly version: number
  readonly fence: number
  readonly holder: string | null
  readonly carry: Carry | null
  readonly created_at: number
  readonly moving: string
  /** Of the event `registered`. */
  readonly payload: string
}

interface ListedRow extends NumberedRow {
  /** Whether a grant makes the process visible to the session that lists. */
  readonly isGranted: boolean
}

type Served = Questions['claimable'][0]['serves'][number]

const COLUMNS = 'id, version, fence, holder, carry, created_at, moving'
/** Rows looked at per query while a filter that no index covers is applied. */
const SCAN = 500

/** `seen` is told of every row that is part of an answer. */
export function processStatements(link: Link, at: string, seen: (found: NumberedRow) => void) {
  const one = async <Row extends object>(text: string, values: readonly Value[] = []) =>
    (await link.query<Row>(text, values))[0]
  const select = <Row extends Columns>(more: string, text: string, values: readonly Value[]) =>
    link.query<Row>(
      `select ${COLUMNS}, (select payload from ${at}event e where e.pid = process.pid and e.seq = 1) as payload
        ${more} from ${at}process as process where ${text}`,
      values,
    )
  const rows = async (text: string, values: readonly Value[]) => {
    const found = (await select<Columns>('', text, values)).map(numbered)
    for (const row of found) seen(row)
    return found
  }
  const listedRows = async (granted: string, text: string, values: readonly Value[]) => {
    const found = (
      await select<Columns & { readonly granted: boolean }>(`, ${granted} as granted`, text, values)
    ).map((columns): ListedRow => ({ ...numbered(columns), isGranted: columns.granted }))
    for (const { isGranted: _, ...row } of found) seen(row)
    return found
  }
  const page = async (text: string, values: readonly Value[], limit: number): Promise<Page<ProcessRow>> => {
    const found = await rows(text, values)
    return {
      items: found.map(({ row }) => row),
      next: found.length < limit ? null : (found.at(-1)?.id ?? null),
    }
  }
  const pids = async (text: string, values: readonly Value[]) =>
    (await link.query<{ pid: Pid }>(text, values)).map(({ pid }) => pid)

  return {
    read: (wanted: readonly Pid[]) => rows('pid = any ($1)', [wanted]),

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
      const [until, most] = [values.add(time), values.add(limit)]
      const placed = placedAt(here, values)
      const parts = serves.map(
        (served) => `(select id, pid from ${at}process where ${servedBy(served, values)} and ${placed}
          and due <= ${until}
          order by id limit ${most})`,
      )
      return pids(`select pid from (${parts.join(' union ')}) as found order by id limit ${most}`, values.all)
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

    /** Narrows by the indexed columns; `matches` and `isVisible` decide about each row. */
    async list({
      filter,
      visibleTo,
      newestFirst,
      after,
      limit,
    }: Questions['processes'][0]): Promise<Page<ProcessRow>> {
      const items: ProcessRow[] = []
      let place = after ?? (newestFirst ? Number.MAX_SAFE_INTEGER : 0)
      for (;;) {
        const values = new Values()
        const order = `order by process.id ${newestFirst ? 'desc' : ''} limit ${values.add(SCAN)}`
        const wanted = `${narrow(filter, values)} and process.id ${newestFirst ? '<' : '>'} ${values.add(place)}`
        const text = `${listed(at, visibleTo, { wanted, order }, values)} ${order}`
        const granted =
          visibleTo?.type === 'session' ? isGrantedTo(at, values.add(visibleTo.session)) : 'false'
        const found = await listedRows(granted, text, values.all)
        for (const { id, row, isGranted } of found) {
          place = id
          if (!matches(row.record, filter)) continue
          if (visibleTo !== undefined && !isVisible(row.record, visibleTo, isGranted)) continue
          items.push(row)
          if (items.length === limit) return { items, next: place }
        }
        if (found.length < SCAN) return { items, next: null }
      }
    },

    async activity({ session, since }: Questions['activity'][0]): Promise<Activity> {
      const live = `select count(*) as live, max(created_at) as "newestAt" from ${at}process where ended_at is null`
      const found =
        session !== null
          ? await one<Activity>(`${live} and session = $1 and created_at >= $2`, [session, since ?? 0])
          : since !== null
            ? await one<Activity>(`${live} and created_at >= $1`, [since])
            : await one<Activity>(`select live, (select created_at from ${at}process where ended_at is null
                order by id desc limit 1) as "newestAt" from ${at}meta`)
      return found ?? { live: 0, newestAt: null }
    },
  }
}

/** The values of a statement that is put together: each gets its number. */
class Values {
  readonly all: Value[] = []

  add(value: Value): string {
    return `$${this.all.push(value)}`
  }
}

function placedAt(here: Questions['claimable'][0]['here'], values: Values): string {
  return `(placement is null or placement = any (${values.add(here)}))`
}

function servedBy({ kind, targets }: Served, values: Values): string {
  const ofKind = `kind = ${values.add(kind)} and due is not null`
  return targets === null ? ofKind : `${ofKind} and target = any (${values.add(targets)})`
}

/**
 * The condition for the next rows of a list. What an actor owns and what is granted to it are looked up in an index each,
 * and cut to a page before they are joined: neither reads the processes of others.
 */
function listed(
  at: string,
  visibleTo: Visibility | undefined,
  { wanted, order }: { readonly wanted: string; readonly order: string },
  values: Values,
): string {
  if (visibleTo === undefined || visibleTo.type === 'all') return wanted
  // The parameters of `wanted` are numbered already, so it has to stay in the query.
  if (visibleTo.type === 'none') return `${wanted} and false`
  const parts = sourcesOf(at, visibleTo, values).map(
    (from) => `(select process.id from ${from} and ${wanted} ${order})`,
  )
  return `process.id in (${parts.join(' union ')})`
}

function sourcesOf(
  at: string,
  visibleTo: Exclude<Visibility, { type: 'all' | 'none' }>,
  values: Values,
): readonly string[] {
  const table = `${at}process as process`
  if (visibleTo.type === 'process') {
    const pid = values.add(visibleTo.pid)
    return [`${table} where process.pid = ${pid}`, `${table} where process.parent = ${pid}`]
  }
  const session = values.add(visibleTo.session)
  return [
    `${table} where process.session = ${session}`,
    // `offset 0` keeps the planner from reading all live processes first: grants are few, processes are not.
    `(select process.* from ${at}visible as visible join ${table} on process.pid = visible.pid
      where visible.session = ${session} offset 0) as process where true`,
  ]
}

/** The same condition for rows that an index has narrowed to a few already. */
function visibleRows(at: string, visibleTo: Visibility | undefined, values: Values): string {
  if (visibleTo === undefined || visibleTo.type === 'all') return 'true'
  if (visibleTo.type === 'none') return 'false'
  if (visibleTo.type === 'process') {
    const pid = values.add(visibleTo.pid)
    return `(process.pid = ${pid} or process.parent = ${pid})`
  }
  const session = values.add(visibleTo.session)
  return `(process.session = ${session} or ${isGrantedTo(at, session)})`
}

function isGrantedTo(at: string, session: string): string {
  return `exists (select 1 from ${at}visible as visible
    where visible.session = ${session} and visible.pid = process.pid)`
}

function narrow(filter: Filter, values: Values): string {
  const terms: string[] = []
  const among = (column: string, wanted: readonly string[] | undefined) => {
    if (wanted !== undefined) terms.push(`process.${column} = any (${values.add(wanted)})`)
  }
  if (filter.status === undefined) terms.push('process.ended_at is null')
  among('pid', filter.pid)
  among('parent', filter.parent)
  among('session', filter.owner?.session)
  among('name', filter.name)
  among('root', filter.root)
  return terms.length === 0 ? 'true' : terms.join(' and ')
}

function numbered({ id, version, fence, holder, carry, created_at, moving, payload }: Columns): NumberedRow {
  return { id, version, row: { record: recordFrom(payload, created_at, moving), holder, fence, carry } }
}
