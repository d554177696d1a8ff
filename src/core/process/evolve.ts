import { isAgentEvent } from '../agent/event.ts'
import { afterLostHolder, afterResume, evolveAgent } from '../agent/evolve-agent.ts'
import { afterChild } from '../agent/report-group.ts'
import { isNativeAgent, NEW_AGENT } from '../agent/state.ts'
import { type Json, own } from '../json/json.ts'
import {
  type ApprovalRequested,
  type ApprovalSettled,
  type EventOf,
  knownEvent,
  type ProcessEvent,
} from './event.ts'
import type { Outcome, ProcessRecord, Registration } from './record.ts'
import type { PausedFrom } from './status.ts'
import { type Wait, waitsOf } from './wait.ts'

/**
 * What a stored event means. It never refuses: an event that was once appended can always be folded again, and the
 * record is this fold, field for field.
 */
export function evolve(record: ProcessRecord | null, event: ProcessEvent): ProcessRecord {
  if (record === null) return begin(event)
  return { ...change(record, event), revision: event.seq, updatedAt: event.at }
}

function change(record: ProcessRecord, event: ProcessEvent): ProcessRecord {
  if (event.type.startsWith('signal.')) return signalled(record, event)
  // A type that a process declared before it became one of Reeve's own keeps its declared meaning.
  if (own(record.eventTypes, event.type) !== undefined) return declared(record, event)
  const known = knownEvent(event)
  switch (known?.type) {
    case 'child_registered':
      return {
        ...record,
        children: record.children + 1,
        agent: known.payload.seat === undefined ? record.agent : afterChild(record.agent, known.payload),
      }
    case 'postponed':
      return { ...record, retryAt: known.payload.until }
    case 'started':
      return {
        ...record,
        // A parked process still waits for the same things.
        status: record.wait === null ? 'running' : 'waiting',
        parked: false,
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
      return {
        ...putBack(record),
        retryAt: known.payload.retryAt,
        agent: record.status === 'paused' ? record.agent : afterLostHolder(record.agent),
      }
    case 'released':
      return { ...putBack(record), attempts: record.attempts - 1 }
    case 'parked': {
      const { snapshot } = known.payload
      const kept = snapshot === undefined ? {} : { snapshot }
      return { ...record, ...kept, parked: true, attempts: record.attempts - 1 }
    }
    case 'awaited':
      return { ...record, awaitedBy: [...record.awaitedBy, known.payload.by] }
    case 'step_ended': {
      const last = Math.max(record.journal?.last ?? 0, known.payload.stepIndex)
      return { ...record, journal: { last, attempts: record.attempts - 1 } }
    }
    case 'step_tried':
      return record
    case 'approval_requested':
      return approvalRequested(record, known.payload, event.at)
    case 'approval_settled':
      return approvalSettled(record, known.payload)
    case 'paused':
      return { ...record, status: 'paused', pausedFrom: pausedFrom(record) }
    case 'resumed':
      return {
        ...record,
        status: record.pausedFrom ?? 'running',
        pausedFrom: null,
        agent: afterResume(record.agent, known.payload.source),
      }
    case 'stop_requested':
      return {
        ...record,
        status: 'stopping',
        pausedFrom: null,
        stopRequest: { ...known.payload, at: event.at },
      }
    case 'stop_delivered':
      return record.stopRequest === null
        ? record
        : { ...record, stopRequest: { ...record.stopRequest, deliveredAt: event.at } }
    case 'wait_entered': {
      const { again: _, ...wait } = known.payload
      return waitEntered(record, { ...wait, since: event.at })
    }
    case 'wait_left':
      return waitLeft(record, known.payload)
    case 'reowned': {
      const { owner, sessionsAbove } = known.payload
      // Written even if it is empty now: the first event, which the record is read from, may have others.
      return sessionsAbove === undefined && record.sessionsAbove === undefined
        ? { ...record, owner }
        : { ...record, owner, sessionsAbove: sessionsAbove ?? [] }
    }
    case 'cwd_changed':
      return { ...record, cwd: known.payload.cwd }
    case 'abandon_requested':
      return { ...record, abandonRequest: record.abandonRequest ?? { ...known.payload, at: event.at } }
    case 'external_ref_set':
      return { ...record, externalRef: record.externalRef ?? known.payload.ref }
    case 'wake_target_cleared':
      return { ...record, wakeTarget: null }
    case 'watch_matched': {
      const { watch, end: scannedTo, strikes, lines } = known.payload
      // Scanning met a gap, and nothing matched.
      const toldAt = lines.length === 0 ? (own(record.watches, watch)?.toldAt ?? null) : event.at
      const state = { scannedTo, toldAt, strikes, disabled: false }
      return { ...record, watches: { ...record.watches, [watch]: state } }
    }
    case 'watch_disabled': {
      const { watch, end: scannedTo } = known.payload
      const { toldAt = null, strikes = 0 } = own(record.watches, watch) ?? {}
      const state = { scannedTo, toldAt, strikes, disabled: true }
      return { ...record, watches: { ...record.watches, [watch]: state } }
    }
    case 'ready':
    case 'ready_timed_out':
      return { ...record, readiness: { at: event.at, ready: known.type === 'ready' } }
    case 'heartbeat':
    case 'limit_near':
    case 'message_received':
    case 'message_sent':
    case 'object_put':
    case 'object_written':
    case 'object_linked':
    case 'object_released':
    case 'objects_merged':
      return record
    case 'view_changed':
      return { ...record, view: known.payload.view }
    case 'ended':
      return end(record, known.payload)
    case undefined:
      return declared(record, event)
    default:
      return known !== null && isAgentEvent(known) ? evolveAgent(record, known) : declared(record, event)
  }
}

function begin(event: ProcessEvent): ProcessRecord {
  const { payload }: { readonly payload: unknown } = event
  const { label, definition, ...registration } = payload as Registration
  return {
    ...registration,
    // Processes that were registered before placements existed have none.
    placement: registration.placement ?? null,
    identity: { label, definition },
    status: 'queued',
    pausedFrom: null,
    stopRequest: null,
    wait: null,
    moreWaits: [],
    parked: false,
    awaitedBy: [],
    journal: null,
    agent: isNativeAgent(registration) ? NEW_AGENT : null,
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
    revision: event.seq,
    createdAt: event.at,
    updatedAt: event.at,
  }
}

/** Queued again. Its waits are forgotten: the next attempt enters them again. */
function putBack(record: ProcessRecord): ProcessRecord {
  const status = record.status === 'paused' || record.status === 'stopping' ? record.status : 'queued'
  const waits = { wait: null, moreWaits: [], parked: false }
  return { ...record, ...waits, status, pausedFrom: status === 'paused' ? 'queued' : null }
}

function pausedFrom(record: ProcessRecord) {
  return record.status === 'queued' || record.status === 'waiting' ? record.status : 'running'
}

function signalled(record: ProcessRecord, event: ProcessEvent): ProcessRecord {
  const name = event.type.slice('signal.'.length)
  const queue = own(record.signals, name) ?? { received: 0, taken: 0, pending: [] }
  const grown = { ...queue, received: queue.received + 1, pending: [...queue.pending, event.seq] }
  return { ...record, signals: { ...record.signals, [name]: grown } }
}

/** A paused process stays paused, and waits once it is resumed. */
function waitEntered(record: ProcessRecord, wait: Wait): ProcessRecord {
  if (record.wait !== null) return { ...record, moreWaits: [...record.moreWaits, wait] }
  return record.status === 'paused'
    ? { ...record, pausedFrom: 'waiting', wait }
    : { ...record, status: 'waiting', wait }
}

function waitLeft(record: ProcessRecord, left: EventOf<'wait_left'>['payload']): ProcessRecord {
  const waits = waitsOf(record)
  const [wait = null, ...moreWaits] = waits.filter(
    ({ on, name, ordinal }) => on !== left.on || name !== left.name || ordinal !== left.ordinal,
  )
  const isOne = moreWaits.length + Number(wait !== null) < waits.length
  // An answer may arrive before its wait is entered: the other waits go on.
  if (!isOne) return record
  // A parked process is not executed: the next claim goes on from here.
  const then: PausedFrom = record.parked ? 'queued' : wait === null ? 'running' : 'waiting'
  const status = record.status === 'waiting' ? then : record.status
  const pausedFrom = record.pausedFrom === 'waiting' ? then : record.pausedFrom
  const queue = own(record.signals, left.name)
  const moved = { ...record, status, pausedFrom, wait, moreWaits }
  if (left.how !== 'signal' || queue === undefined) return moved
  const pending = queue.pending.filter((seq) => seq !== left.signalSeq)
  return {
    ...moved,
    signals: { ...record.signals, [left.name]: { ...queue, taken: queue.taken + 1, pending } },
  }
}

/** It waits, in no program's memory, and is held by none. If it had begun, that attempt does not count. */
function approvalRequested(record: ProcessRecord, asked: ApprovalRequested, at: number): ProcessRecord {
  const { approval, actionHash, expiresAt, again } = asked
  const wait = { on: 'approval', name: approval, ordinal: 1, since: at, until: null } as const
  const gate = { approval, actionHash, state: 'pending', expiresAt } as const
  const attempts = again === true ? record.attempts - 1 : record.attempts
  return { ...waitEntered(record, wait), gate, parked: true, attempts }
}

/** An approved process is queued; every other answer is followed by the end. */
function approvalSettled(record: ProcessRecord, settled: ApprovalSettled): ProcessRecord {
  if (record.gate === null) return record
  if (settled.how !== 'approved') return { ...record, gate: { ...record.gate, state: settled.how } }
  const { approval: name, actionHash = record.gate.actionHash, spec = null } = settled
  const wait = { on: 'approval', name, ordinal: 1, how: 'answered', signalSeq: null, value: null } as const
  const gate = { ...record.gate, actionHash, state: 'approved' } as const
  return { ...waitLeft(record, wait), gate, parked: false, effectiveSpec: spec ?? record.effectiveSpec }
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

function end({ snapshot: _, ...record }: ProcessRecord, outcome: Outcome): ProcessRecord {
  const waits = { wait: null, moreWaits: [], parked: false }
  const gate =
    record.gate?.state === 'pending' ? { ...record.gate, state: 'withdrawn' as const } : record.gate
  return { ...record, ...waits, gate, status: outcome.status, outcome, pausedFrom: null, retryAt: null }
}
