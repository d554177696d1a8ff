import { isObject } from '../../base/is-object.ts'
import { sameJson } from '../json/canonical.ts'
import type { Json } from '../json/json.ts'
import { sessionsOf } from '../session/sessions-above.ts'
import type { Pid } from './pid.ts'
import { hasEnded, type Kind, OWNER_SELECTORS, type ProcessRecord } from './record.ts'
import type { Status } from './status.ts'
import { type WaitOn, waitsOf } from './wait.ts'

/** Several values of one key are alternatives; all keys must match. Without a status, ended processes are left out. */
export interface Filter {
  readonly status?: readonly Status[] | 'any'
  readonly kind?: readonly Kind[]
  /** The awaited conditions. True: any; false: the process does not wait. */
  readonly waiting?: readonly WaitOn[] | boolean
  readonly definition?: readonly Json[]
  readonly label?: readonly string[]
  readonly name?: readonly string[]
  /** Processes of this session and of the sessions below it. */
  readonly sessionTree?: string
  readonly owner?: { readonly [selector in (typeof OWNER_SELECTORS)[number]]?: readonly string[] }
  readonly parent?: readonly Pid[]
  readonly root?: readonly Pid[]
  readonly pid?: readonly Pid[]
  readonly createdAfter?: number
  readonly createdBefore?: number
}

/** The whole meaning of a filter. A store may narrow by its indexes; this function decides. */
export function matches(record: ProcessRecord, filter: Filter): boolean {
  return (
    matchesStatus(record, filter.status) &&
    has(filter.kind, record.kind) &&
    matchesWaiting(record, filter.waiting) &&
    has(filter.label, record.identity.label) &&
    has(filter.name, record.name) &&
    has(filter.parent, record.parent) &&
    has(filter.root, record.root) &&
    has(filter.pid, record.pid) &&
    (filter.sessionTree === undefined || sessionsOf(record).includes(filter.sessionTree)) &&
    (filter.createdAfter === undefined || record.createdAt > filter.createdAfter) &&
    (filter.createdBefore === undefined || record.createdAt < filter.createdBefore) &&
    OWNER_SELECTORS.every((selector) => has(filter.owner?.[selector], record.owner[selector] ?? null)) &&
    (filter.definition === undefined ||
      filter.definition.some((wanted) => contains(record.identity.definition, wanted)))
  )
}

function matchesStatus(record: ProcessRecord, status: Filter['status']): boolean {
  if (status === undefined) return !hasEnded(record)
  return status === 'any' || status.includes(record.status)
}

function matchesWaiting(record: ProcessRecord, waiting: Filter['waiting']): boolean {
  if (waiting === undefined) return true
  const waits = waitsOf(record)
  if (typeof waiting === 'boolean') return waits.length > 0 === waiting
  return waits.some(({ on }) => waiting.includes(on))
}

function has<Value>(wanted: readonly Value[] | undefined, value: Value | null): boolean {
  return wanted === undefined || (value !== null && wanted.includes(value))
}

/** An object contains another if it has all its members; everything else must be equal. */
function contains(value: Json, wanted: Json): boolean {
  if (!isObject(wanted) || !isObject(value)) return sameJson(value, wanted)
  return Object.keys(wanted).every((key) => key in value && contains(value[key] ?? null, wanted[key] ?? null))
}
