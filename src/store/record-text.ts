import type { ProcessRecord, Registration } from '../core/process/record.ts'

/**
 * Half of a record never changes: it is what `registered` said, and is read from that event. Only the other half is
 * written again with every event. The compiler says so when a field is in neither.
 */
type Moving = Omit<
  ProcessRecord,
  Exclude<keyof Registration, 'owner' | 'cwd' | 'wakeTarget'> | 'identity' | 'createdAt'
>

type Usual = Omit<Moving, 'owner' | 'status' | 'revision' | 'updatedAt'>

/** What most of these fields hold most of the time is left out of the text. */
const USUAL: Usual = {
  cwd: null,
  wakeTarget: null,
  pausedFrom: null,
  stopRequest: null,
  wait: null,
  signals: {},
  children: 0,
  attempts: 0,
  retryAt: null,
  firstStarted: null,
  abandonRequest: null,
  externalRef: null,
  outcome: null,
  facets: {},
}
const USUAL_FIELDS = Object.keys(USUAL) as (keyof Usual)[]

export function movingText(record: ProcessRecord): string {
  const { owner, status, revision, updatedAt } = record
  const moving: Record<string, unknown> = { owner, status, revision, updatedAt }
  for (const field of USUAL_FIELDS) {
    const value = record[field]
    const usual = field === 'signals' || field === 'facets' ? isEmpty(record[field]) : value === USUAL[field]
    if (!usual) moving[field] = value
  }
  return JSON.stringify(moving)
}

export function recordFrom(registered: string, createdAt: number, moving: string): ProcessRecord {
  const { label, definition, ...fixed } = JSON.parse(registered) as Registration
  const moved = JSON.parse(moving) as Pick<Moving, 'owner' | 'status' | 'revision' | 'updatedAt'>
  return { ...fixed, identity: { label, definition }, createdAt, ...USUAL, ...moved }
}

function isEmpty(map: object): boolean {
  for (const _ in map) return false
  return true
}
