import type { Outcome, ProcessRecord, Registration } from '../core/process/record.ts'

/**
 * The fields of a record that events change. They are written with every event; the others never change, and are read from
 * the event `registered`. The compiler reports a field that is in neither. An outcome is the payload of the last event, `ended`,
 * and is read from there: it may have a large result.
 */
type Moving = Omit<
  ProcessRecord,
  | Exclude<keyof Registration, 'owner' | 'cwd' | 'wakeTarget' | 'sessionsAbove' | 'view'>
  | 'identity'
  | 'createdAt'
>

type Usual = Omit<
  Moving,
  'owner' | 'status' | 'revision' | 'updatedAt' | 'sessionsAbove' | 'view' | 'snapshot'
>

/** The most frequent value of each field, which the text leaves out. */
const USUAL: Usual = {
  cwd: null,
  wakeTarget: null,
  pausedFrom: null,
  stopRequest: null,
  wait: null,
  moreWaits: [],
  parked: false,
  awaitedBy: [],
  journal: null,
  agent: null,
  gate: null,
  effectiveSpec: null,
  signals: {},
  children: 0,
  attempts: 0,
  retryAt: null,
  firstStarted: null,
  program: null,
  watches: {},
  readiness: null,
  abandonRequest: null,
  externalRef: null,
  outcome: null,
  facets: {},
}

/** Field by field rather than in a loop, for speed: every event of every process is written with this. */
export function movingText(record: ProcessRecord): string {
  const { owner, status, revision, updatedAt } = record
  const moving: Mutable<Partial<Moving>> = { owner, status, revision, updatedAt }
  if (record.sessionsAbove !== undefined) moving.sessionsAbove = record.sessionsAbove
  // The view of its registration is in the first event.
  if (record.view?.since !== undefined) moving.view = record.view
  if (record.cwd !== null) moving.cwd = record.cwd
  if (record.wakeTarget !== null) moving.wakeTarget = record.wakeTarget
  if (record.pausedFrom !== null) moving.pausedFrom = record.pausedFrom
  if (record.stopRequest !== null) moving.stopRequest = record.stopRequest
  if (record.wait !== null) moving.wait = record.wait
  if (record.moreWaits.length > 0) moving.moreWaits = record.moreWaits
  if (record.parked) moving.parked = true
  if (record.snapshot !== undefined) moving.snapshot = record.snapshot
  if (record.awaitedBy.length > 0) moving.awaitedBy = record.awaitedBy
  if (record.journal !== null) moving.journal = record.journal
  if (record.agent !== null) moving.agent = record.agent
  if (record.gate !== null) moving.gate = record.gate
  if (record.effectiveSpec !== null) moving.effectiveSpec = record.effectiveSpec
  if (!isEmpty(record.signals)) moving.signals = record.signals
  if (record.children !== 0) moving.children = record.children
  if (record.attempts !== 0) moving.attempts = record.attempts
  if (record.retryAt !== null) moving.retryAt = record.retryAt
  if (record.firstStarted !== null) moving.firstStarted = record.firstStarted
  if (record.program !== null) moving.program = record.program
  if (!isEmpty(record.watches)) moving.watches = record.watches
  if (record.readiness !== null) moving.readiness = record.readiness
  if (record.abandonRequest !== null) moving.abandonRequest = record.abandonRequest
  if (record.externalRef !== null) moving.externalRef = record.externalRef
  if (record.outcome !== null && declaresAnEnd(record)) moving.outcome = record.outcome
  if (!isEmpty(record.facets)) moving.facets = record.facets
  return JSON.stringify(moving)
}

type Mutable<Fields> = { -readonly [Field in keyof Fields]: Fields[Field] }

/** The texts of a record in a store. */
export interface RecordTexts {
  /** The payload of its first event. */
  readonly registered: string
  readonly moving: string
  /** The payload of its last event, if it has ended. */
  readonly ending: string | null
}

export function recordFrom({ registered, moving, ending }: RecordTexts, createdAt: number): ProcessRecord {
  const { label, definition, ...fixed } = JSON.parse(registered) as Registration
  const moved = JSON.parse(moving) as Pick<Moving, 'owner' | 'status' | 'revision' | 'updatedAt'> &
    Partial<Moving>
  // Processes that were registered before placements existed have none.
  const placement = fixed.placement ?? null
  const record = { ...fixed, placement, identity: { label, definition }, createdAt, ...USUAL, ...moved }
  // Stores of earlier versions have all outcomes in `moving`.
  if (ending === null || moved.outcome !== undefined) return record
  return { ...record, outcome: JSON.parse(ending) as Outcome }
}

/** Whether the last event may be one of a declared type: then the outcome is not its payload. */
function declaresAnEnd({ eventTypes }: ProcessRecord): boolean {
  for (const name in eventTypes) if (eventTypes[name]?.end !== undefined) return true
  return false
}

function isEmpty(map: object): boolean {
  for (const _ in map) return false
  return true
}
