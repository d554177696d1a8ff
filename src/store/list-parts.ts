import type { Visibility } from '../core/authority/visibility.ts'
import type { Filter } from '../core/process/filter.ts'
import type { EndStatus } from '../core/process/status.ts'
import { definitionMask, labelSignature } from './signature.ts'

/**
 * The plan of a list: its parts each scan one index in the order of ids, and are cut to a page before they are merged.
 * A part never reads a record that its conditions exclude; `matches` and `isVisible` decide about the others.
 *
 * | source   | set    | index                                                     |
 * | key      | both   | that of the column: pid, name, parent or root             |
 * | granted  | both   | the grants of the session                                 |
 * | session  | live   | `process_session_live`                                    |
 * | session  | ended  | `process_session_ended`, which has all columns of terms   |
 * | below    | live   | `below_session`, the live part of the session             |
 * | below    | ended  | `below_session`, the ended part of the session            |
 * | all      | live   | `process_live`                                            |
 * | all      | ended  | `process_ended_list`, which has all columns of terms      |
 */
export interface ListPart {
  readonly source: ListSource
  readonly set: ListSet
  readonly terms: readonly ListTerm[]
  /** For a source that does not imply visibility. */
  readonly visibleTo: Visibility | undefined
}

export type ListSource =
  | { readonly type: 'all' }
  | { readonly type: 'session'; readonly session: string }
  /** Processes of the sessions below. */
  | { readonly type: 'below'; readonly session: string }
  | { readonly type: 'granted'; readonly session: string }
  | { readonly type: 'key'; readonly column: Key; readonly values: readonly string[] }

/** `both` includes live and ended processes. */
type ListSet = 'live' | 'ended' | 'both'

type Key = 'pid' | 'name' | 'parent' | 'root'

export type ListTerm =
  | { readonly type: 'among'; readonly column: Key | 'session' | 'kind'; readonly values: readonly string[] }
  /** These columns are null in rows of earlier versions, which all pass. */
  | { readonly type: 'among_or_unknown'; readonly column: 'end_status'; readonly values: readonly string[] }
  | {
      readonly type: 'among_or_unknown'
      readonly column: 'label_signature'
      readonly values: readonly number[]
    }
  /** One of these masks has no bit that the signature lacks. */
  | { readonly type: 'masks_or_unknown'; readonly masks: readonly number[] }
  /** Processes of this session and of the sessions below it. */
  | { readonly type: 'session_tree'; readonly session: string }
  | { readonly type: 'created'; readonly after: number | null; readonly before: number | null }

const KEYS = ['pid', 'name', 'parent', 'root'] as const
const END_STATUSES: ReadonlySet<string> = new Set<EndStatus>([
  'completed',
  'failed',
  'cancelled',
  'abandoned',
])

export function listParts(filter: Filter, visibleTo: Visibility | undefined): readonly ListPart[] {
  const sets = setsOf(filter)
  const [first] = sets
  if (first === undefined || visibleTo?.type === 'none') return []
  const whole = sets.length > 1 ? 'both' : first
  const key = KEYS.find((column) => filter[column] !== undefined)
  if (key !== undefined) {
    const source: ListSource = { type: 'key', column: key, values: filter[key] ?? [] }
    return [{ source, set: whole, terms: termsOf(filter, whole), visibleTo }]
  }
  return sourcesOf(filter, visibleTo).flatMap((source) => {
    const read: readonly ListSet[] = source.type === 'key' || source.type === 'granted' ? [whole] : sets
    return read.map((set) => ({ source, set, terms: termsOf(filter, set), visibleTo: undefined }))
  })
}

function setsOf({ status, waiting }: Filter): readonly ('live' | 'ended')[] {
  if (status === undefined) return ['live']
  // An ended process waits for nothing.
  const isEndedWanted = waiting === undefined || waiting === false
  if (status === 'any') return isEndedWanted ? ['live', 'ended'] : ['live']
  const live = status.some((one) => !END_STATUSES.has(one))
  const ended = isEndedWanted && status.some((one) => END_STATUSES.has(one))
  return [...(live ? (['live'] as const) : []), ...(ended ? (['ended'] as const) : [])]
}

function sourcesOf(filter: Filter, visibleTo: Visibility | undefined): readonly ListSource[] {
  if (visibleTo?.type === 'process')
    return [
      { type: 'key', column: 'pid', values: [visibleTo.pid] },
      { type: 'key', column: 'parent', values: [visibleTo.pid] },
    ]
  if (visibleTo?.type === 'session')
    return [
      { type: 'session', session: visibleTo.session },
      { type: 'below', session: visibleTo.session },
      { type: 'granted', session: visibleTo.session },
    ]
  if (filter.sessionTree !== undefined)
    return [
      { type: 'session', session: filter.sessionTree },
      { type: 'below', session: filter.sessionTree },
    ]
  const sessions = filter.owner?.session
  return sessions === undefined
    ? [{ type: 'all' }]
    : [...new Set(sessions)].map((session) => ({ type: 'session', session }))
}

function termsOf(filter: Filter, set: ListSet): readonly ListTerm[] {
  const terms: ListTerm[] = []
  const among = (column: Key | 'session' | 'kind', values: readonly string[] | undefined) => {
    if (values !== undefined) terms.push({ type: 'among', column, values })
  }
  for (const key of KEYS) among(key, filter[key])
  among('session', filter.owner?.session)
  if (filter.sessionTree !== undefined) terms.push({ type: 'session_tree', session: filter.sessionTree })
  among('kind', filter.kind)
  if (set === 'ended' && Array.isArray(filter.status)) {
    const values = filter.status.filter((status) => END_STATUSES.has(status))
    terms.push({ type: 'among_or_unknown', column: 'end_status', values })
  }
  if (filter.label !== undefined)
    terms.push({
      type: 'among_or_unknown',
      column: 'label_signature',
      values: filter.label.map(labelSignature),
    })
  if (filter.definition !== undefined)
    terms.push({ type: 'masks_or_unknown', masks: filter.definition.map(definitionMask) })
  const { createdAfter = null, createdBefore = null } = filter
  if (createdAfter !== null || createdBefore !== null)
    terms.push({ type: 'created', after: createdAfter, before: createdBefore })
  return terms
}
