import { isVisible } from '../../../core/authority/visibility.ts'
import { matches } from '../../../core/process/filter.ts'
import type { ProcessRow } from '../../../core/process/row.ts'
import type { Page, Questions } from '../../contract.ts'
import { type ListPart, type ListSource, type ListTerm, listParts } from '../../list-parts.ts'
import type { UnreadableRows } from '../../unreadable.ts'
import type { Link } from '../link.ts'
import { isBelow, isGrantedTo, Values, visibleRows } from './conditions.ts'
import { type NumberedRow, numbered, selectProcess, type VersionedColumns } from './process.ts'

/** Records read per query while a filter that no index covers is applied. */
const MAX_RECORDS = 500
const MIN_RECORDS = 20

/** `onRow` is called with every row in an answer. */
export function listStatements(
  link: Link,
  at: string,
  onRow: (found: NumberedRow) => void,
  unreadable: UnreadableRows,
) {
  return {
    async list(question: Questions['processes'][0]): Promise<Page<ProcessRow>> {
      const { filter, visibleTo, newestFirst = false, after, limit } = question
      const parts = listParts(filter, visibleTo)
      const items: ProcessRow[] = []
      if (parts.length === 0) return { items, next: null }
      const records = Math.max(MIN_RECORDS, Math.min(MAX_RECORDS, limit))
      let cursor = after ?? (newestFirst ? Number.MAX_SAFE_INTEGER : 0)
      for (;;) {
        const values = new Values()
        const granted =
          visibleTo?.type === 'session' ? isGrantedTo(at, values.add(visibleTo.session)) : 'false'
        const ids = listIds(at, parts, { after: cursor, newestFirst, records }, values)
        const found = await link.query<VersionedColumns & { readonly granted: boolean }>(
          `${selectProcess(at)}, ${granted} as granted from ${at}process as process where process.id in (${ids})
            order by process.id ${newestFirst ? 'desc' : ''} limit ${values.add(records)}`,
          values.all,
        )
        for (const columns of found) {
          cursor = columns.id
          const read = unreadable.readOrSkip(columns.pid, () => numbered(columns))
          if (read === undefined) continue
          const { row } = read
          onRow(read)
          if (!matches(row.record, filter)) continue
          if (visibleTo !== undefined && !isVisible(row.record, visibleTo, columns.granted)) continue
          items.push(row)
          if (items.length === limit) return { items, next: cursor }
        }
        if (found.length < records) return { items, next: null }
      }
    },
  }
}

interface Range {
  readonly after: number
  readonly newestFirst: boolean
  readonly records: number
}

/** The query for the ids after a cursor. */
export function listIds(
  at: string,
  parts: readonly ListPart[],
  { after, newestFirst, records }: Range,
  values: Values,
): string {
  const cursor = values.add(after)
  const most = values.add(records)
  return parts
    .map(({ source, set, terms, visibleTo }) => {
      const id = source.type === 'below' ? 'below_session.process' : 'process.id'
      const conditions = [
        `${id} ${newestFirst ? '<' : '>'} ${cursor}`,
        ...(set === 'live' ? ['process.ended_at is null'] : []),
        ...(set === 'ended' ? ['process.ended_at is not null'] : []),
        ...terms.map((term) => conditionOf(at, term, values)),
        visibleRows(at, visibleTo, values),
      ]
      const order = `order by ${id} ${newestFirst ? 'desc' : ''} limit ${most}`
      return `(select process.id from ${fromOf(at, source, set, values)} and ${conditions.join(' and ')} ${order})`
    })
    .join(' union ')
}

function fromOf(at: string, source: ListSource, set: ListPart['set'], values: Values): string {
  const table = `${at}process as process`
  switch (source.type) {
    case 'all':
      return `${table} where true`
    case 'session':
      return `${table} where process.session = ${values.add(source.session)}`
    case 'below':
      return `${at}below_session as below_session join ${table} on process.id = below_session.process
        where below_session.session = ${values.add(source.session)} and below_session.is_ended = ${set === 'ended'}`
    case 'granted':
      // `offset 0` keeps the planner from reading all live processes first: grants are few, processes are not.
      return `(select process.* from ${at}visible as visible join ${table} on process.pid = visible.pid
        where visible.session = ${values.add(source.session)} offset 0) as process where true`
    case 'key':
      return `${table} where process.${source.column} = any (${values.add(source.values)})`
  }
}

function conditionOf(at: string, term: ListTerm, values: Values): string {
  switch (term.type) {
    case 'among':
      return `process.${term.column} = any (${values.add(term.values)})`
    case 'among_or_unknown':
      return `(process.${term.column} is null or process.${term.column} = any (${values.add(term.values)}))`
    case 'masks_or_unknown': {
      const column = 'process.definition_signature'
      const masks = term.masks.map((mask) => values.add(mask)).map((mask) => `${column} & ${mask} = ${mask}`)
      return `(${[`${column} is null`, ...masks].join(' or ')})`
    }
    case 'session_tree': {
      const session = values.add(term.session)
      return `(process.session = ${session} or ${isBelow(at, session)})`
    }
    case 'created': {
      const after = values.add(term.after ?? -1)
      return `process.created_at > ${after} and process.created_at < ${values.add(term.before ?? Number.MAX_SAFE_INTEGER)}`
    }
  }
}
