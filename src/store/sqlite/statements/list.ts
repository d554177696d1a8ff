import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { isVisible } from '../../../core/authority/visibility.ts'
import { matches } from '../../../core/process/filter.ts'
import type { ProcessRow } from '../../../core/process/row.ts'
import type { Page, Questions } from '../../contract.ts'
import { type ListPart, type ListSource, type ListTerm, listParts } from '../../list-parts.ts'
import type { UnreadableRows } from '../../unreadable.ts'
import { allRows } from '../rows.ts'
import { statementCache } from '../statement-cache.ts'
import { type StoredProcessColumns, unpackProcess } from '../stored-texts.ts'
import { BELOW, type Condition, GRANTED, marks, plain, visibleRows } from './conditions.ts'
import { PROCESS_COLUMNS, PROCESS_FROM } from './process.ts'

interface ListedColumns extends StoredProcessColumns {
  /** Whether a grant makes the process visible to the session that lists. */
  readonly granted: 0 | 1
}

/** Records read per query while a filter that no index covers is applied. */
const MAX_RECORDS = 250
const MIN_RECORDS = 20
/** The ids that one query scans at most: some milliseconds. */
const MAX_SPAN = 50_000

/** A list consists of queries of some milliseconds each: between two of them the caller may let other work run. */
export function listStatements(db: DatabaseSync, unreadable: UnreadableRows) {
  const lastId = db.prepare('select max(id) as id from process')
  const prepared = statementCache(db)

  return {
    /** Yields between queries. */
    *list(question: Questions['processes'][0]): Generator<void, Page<ProcessRow>> {
      const { filter, visibleTo, newestFirst = false, after, limit } = question
      const parts = listParts(filter, visibleTo)
      const items: ProcessRow[] = []
      const end = Number(lastId.get()?.['id'] ?? 0)
      const session = visibleTo?.type === 'session' ? visibleTo.session : null
      const records = Math.max(MIN_RECORDS, Math.min(MAX_RECORDS, limit))
      let cursor = after ?? (newestFirst ? end + 1 : 0)
      let isFirst = true
      while (parts.length > 0 && (newestFirst ? cursor > 1 : cursor < end)) {
        if (!isFirst) yield
        isFirst = false
        const until = newestFirst ? Math.max(0, cursor - MAX_SPAN) : cursor + MAX_SPAN
        const range = { after: Math.min(cursor, until), until: Math.max(cursor, until), newestFirst, records }
        const { sql, values } = listQuery(parts, range)
        const found = allRows<ListedColumns>(prepared(sql), session, ...values)
        for (const columns of found) {
          cursor = columns.id
          const row = unreadable.readOrSkip(columns.pid, () => unpackProcess(columns))
          if (row === undefined || !matches(row.record, filter)) continue
          if (visibleTo !== undefined && !isVisible(row.record, visibleTo, columns.granted === 1)) continue
          items.push(row)
          if (items.length === limit) return { items, next: cursor }
        }
        if (found.length < records) cursor = newestFirst ? until + 1 : until
      }
      return { items, next: null }
    },
    /** Inside a transaction, which must not wait for other work. */
    listAtOnce(question: Questions['processes'][0]): Page<ProcessRow> {
      const steps = this.list(question)
      for (;;) {
        const step = steps.next()
        if (step.done) return step.value
      }
    },
  }
}

/** The ids of one query. The end at which the list begins is excluded. */
interface Range {
  readonly after: number
  readonly until: number
  readonly newestFirst: boolean
  readonly records: number
}

/** The text and the values of one query. The caller adds the first value, the session that lists. */
export function listQuery(
  parts: readonly ListPart[],
  { after, until, newestFirst, records }: Range,
): { readonly sql: string; readonly values: readonly SQLInputValue[] } {
  // In descending order `until` is the end at which the list begins.
  const orderBy = (id: string) => `order by ${id} ${newestFirst ? 'desc' : ''} limit ?`
  const order = orderBy('process.id')
  const rendered = parts.map((part) => {
    const { from, key } = fromOf(part.source, part.set)
    const id = part.source.type === 'below' ? 'below_session.process' : 'process.id'
    const ids = newestFirst ? `${id} > ? and ${id} < ?` : `${id} > ? and ${id} <= ?`
    const conditions = [
      ...(part.set === 'live' ? [plain('process.ended_at is null')] : []),
      ...(part.set === 'ended' ? [plain('process.ended_at is not null')] : []),
      ...part.terms.map(conditionOf),
      visibleRows(part.visibleTo),
    ]
    return {
      sql: `select id from (select process.id from ${from} and ${ids} and ${conditions.map(({ where }) => where).join(' and ')} ${orderBy(id)})`,
      values: [...key, after, until, ...conditions.flatMap(({ values }) => values), records],
    }
  })
  return {
    sql: `select ${PROCESS_COLUMNS}, ${GRANTED} as granted from ${PROCESS_FROM}
      where process.id in (${rendered.map(({ sql }) => sql).join(' union ')}) ${order}`,
    values: [...rendered.flatMap(({ values }) => values), records],
  }
}

function fromOf(
  source: ListSource,
  set: ListPart['set'],
): { readonly from: string; readonly key: readonly SQLInputValue[] } {
  switch (source.type) {
    case 'all':
      return {
        from: `process indexed by ${set === 'ended' ? 'process_ended_list' : 'process_live'} where true`,
        key: [],
      }
    case 'session':
      return {
        from: `process indexed by ${set === 'ended' ? 'process_session_ended' : 'process_session_live'} where process.session = ?`,
        key: [source.session],
      }
    case 'below':
      return {
        from: 'below_session cross join process on process.id = below_session.process where below_session.session = ? and below_session.is_ended = ?',
        key: [source.session, Number(set === 'ended')],
      }
    case 'granted':
      // `cross join` keeps the order of the tables: grants are few, processes are not.
      return {
        from: 'visible cross join process on process.pid = visible.pid where visible.session = ?',
        key: [source.session],
      }
    case 'key': {
      const live = set === 'live' && LIVE_INDEX[source.column]
      const index = live ? `indexed by ${live}` : ''
      return {
        from: `process ${index} where process.${source.column} in (${marks(source.values)})`,
        key: source.values,
      }
    }
  }
}

/** Finds the live children of a process without reading the ended ones, which may be many. */
const LIVE_INDEX: Partial<Record<string, string>> = { parent: 'process_parent_live' }

function conditionOf(term: ListTerm): Condition {
  switch (term.type) {
    case 'among':
      return { where: `process.${term.column} in (${marks(term.values)})`, values: term.values }
    case 'among_or_unknown': {
      const column = `process.${term.column}`
      return { where: `(${column} is null or ${column} in (${marks(term.values)}))`, values: term.values }
    }
    case 'masks_or_unknown': {
      const column = 'process.definition_signature'
      const masks = term.masks.map(() => `${column} & ? = ?`)
      return {
        where: `(${[`${column} is null`, ...masks].join(' or ')})`,
        values: term.masks.flatMap((mask) => [mask, mask]),
      }
    }
    case 'session_tree':
      return { where: `(process.session = ? or ${BELOW})`, values: [term.session, term.session] }
    case 'created':
      return {
        where: 'process.created_at > ? and process.created_at < ?',
        values: [term.after ?? -1, term.before ?? Number.MAX_SAFE_INTEGER],
      }
  }
}
