import { type Json, own } from '../json/json.ts'
import type { ProcessEvent, ReservedEvent } from './event.ts'
import type { Outcome, ProcessRecord, Registration, Wait } from './record.ts'

/**
 * What a stored event means. It never says no: what was once appended can always be folded again, and the
 * record is this fold, field for field.
 */
export function evolve(record: ProcessRecord | null, event: ProcessEvent): ProcessRecord {
  if (record === null) return begin(event)
  return { ...change(record, event), revision: event.seq, updatedAt: event.at }
}

function change(record: ProcessRecord, event: ProcessEvent): ProcessRecord {
  if (event.type.startsWith('signal.')) return signalled(record, event)
  const known = event as unknown as ReservedEvent
  switch (known.type) {
    case 'child_registered':
      return { ...record, children: record.children + 1 }
    case 'started':
      return {
        ...record,
        status: 'running',
        attempts: known.payload.attempt,
        retryAt: null,
        firstStarted: record.firstStarted ?? { at: event.at, holder: known.payload.holder },
      }
    case 'program_started':
      return { ...record, program: known.payload }
    case 'taken_over':
    case 'revealed':
      return record
    case 'holder_lost':
      return { ...putBack(record), retryAt: known.payload.retryAt }
    case 'released':
      return { ...putBack(record), attempts: record.attempts - 1 }
    case 'paused':
      return { ...record, status: 'paused', pausedFrom: pausedFrom(record) }
    case 'resumed':
      return { ...record, status: record.pausedFrom ?? 'running', pausedFrom: null }
    case 'stop_requested':
      return {
        ...record,
        status: 'stopping',
        pausedFrom: null,
        stopRequest: { ...known.payload, at: event.at },
      }
    case 'wait_entered':
      return waitEntered(record, { ...known.payload, since: event.at })
    case 'wait_left':
      return waitLeft(record, known.payload)
    case 'reowned':
      return { ...record, owner: known.payload.owner }
    case 'cwd_changed':
      return { ...record, cwd: known.payload.cwd }
    case 'abandon_requested':
      return { ...record, abandonRequest: record.abandonRequest ?? { ...known.payload, at: event.at } }
    case 'external_ref_set':
      return { ...record, externalRef: record.externalRef ?? known.payload.ref }
    case 'wake_target_cleared':
      return { ...record, wakeTarget: null }
    case 'ended':
      return end(record, known.payload)
    default:
      return declared(record, event)
  }
}

function begin(event: ProcessEvent): ProcessRecord {
  const { label, definition, ...registration } = event.payload as unknown as Registration
  return {
    ...registration,
    identity: { label, definition },
    status: 'ready',
    pausedFrom: null,
    stopRequest: null,
    wait: null,
    signals: {},
    children: 0,
    attempts: 0,
    retryAt: null,
    firstStarted: null,
    program: null,
    abandonRequest: null,
    externalRef: null,
    outcome: null,
    facets: {},
    revision: event.seq,
    createdAt: event.at,
    updatedAt: event.at,
  }
}

/** Back in line. What it waited for is forgotten: the next attempt enters its waits again. */
function putBack(record: ProcessRecord): ProcessRecord {
  const status = record.status === 'paused' || record.status === 'stopping' ? record.status : 'ready'
  return { ...record, status, wait: null, pausedFrom: status === 'paused' ? 'ready' : null }
}

function pausedFrom(record: ProcessRecord) {
  return record.status === 'ready' || record.status === 'waiting' ? record.status : 'running'
}

function signalled(record: ProcessRecord, event: ProcessEvent): ProcessRecord {
  const name = event.type.slice('signal.'.length)
  const queue = own(record.signals, name) ?? { received: 0, taken: 0, pending: [] }
  const grown = { ...queue, received: queue.received + 1, pending: [...queue.pending, event.seq] }
  return { ...record, signals: { ...record.signals, [name]: grown } }
}

/** What is paused stays so, and will wait when it is resumed. */
function waitEntered(record: ProcessRecord, wait: Wait): ProcessRecord {
  return record.status === 'paused'
    ? { ...record, pausedFrom: 'waiting', wait }
    : { ...record, status: 'waiting', wait }
}

function waitLeft(
  record: ProcessRecord,
  left: Extract<ReservedEvent, { type: 'wait_left' }>['payload'],
): ProcessRecord {
  const { wait } = record
  const isThis =
    wait !== null && wait.on === left.on && wait.name === left.name && wait.ordinal === left.ordinal
  // An answer may come before its wait is entered: what is waited for now goes on.
  if (!isThis) return record
  const status = record.status === 'waiting' ? 'running' : record.status
  const pausedFrom = record.pausedFrom === 'waiting' ? 'running' : record.pausedFrom
  const queue = own(record.signals, left.name)
  const moved = { ...record, status, pausedFrom, wait: null }
  if (left.how !== 'signal' || queue === undefined) return moved
  const pending = queue.pending.filter((seq) => seq !== left.signalSeq)
  return {
    ...moved,
    signals: { ...record.signals, [left.name]: { ...queue, taken: queue.taken + 1, pending } },
  }
}

/** An event of a type that the process declared: it may set a facet, and it may be the end. */
function declared(record: ProcessRecord, event: ProcessEvent): ProcessRecord {
  const type = own(record.eventTypes, event.type)
  if (type === undefined) return record
  const facets = type.facet === undefined ? record.facets : { ...record.facets, [type.facet]: event.payload }
  if (type.end === undefined) return { ...record, facets }
  return end({ ...record, facets }, outcomeOf(record, type.end, event.type, event.payload, event.at))
}

function outcomeOf(
  record: ProcessRecord,
  status: Outcome['status'],
  reason: string,
  result: Json,
  endedAt: number,
): Outcome {
  const startedAt = record.firstStarted?.at ?? null
  return {
    status,
    exitCode: null,
    signal: null,
    reason,
    source: null,
    result,
    evidence: null,
    startedAt,
    endedAt,
  }
}

function end(record: ProcessRecord, outcome: Outcome): ProcessRecord {
  return { ...record, status: outcome.status, outcome, wait: null, pausedFrom: null, retryAt: null }
}
