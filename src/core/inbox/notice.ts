import { changedFields } from '../approval/edit.ts'
import { isQuestion } from '../approval/question.ts'
import { type Group, isComplete } from '../group/group.ts'
import { asJson, type Json, type JsonObject, objectOf, own } from '../json/json.ts'
import { isMemoryJob } from '../memory/memory-spec.ts'
import { type ApprovalSettled, knownEvent, type ProcessEvent } from '../process/event.ts'
import { labelOf } from '../process/label.ts'
import type { Pid } from '../process/pid.ts'
import type { Outcome, ProcessRecord, Scope } from '../process/record.ts'
import { waitsOf } from '../process/wait.ts'

export const NOTICE_KINDS = [
  'completion',
  'group_completion',
  'watch_match',
  'watch_disabled',
  'overflow_tripped',
  'overflow_released',
  'ready',
  'heartbeat',
  'approval',
  'limit_warning',
  'wake',
  'message',
  /** Of an agent to a parent that is no agent of Reeve: the result of a turn that the parent asked for. */
  'report',
] as const
export type NoticeKind = (typeof NOTICE_KINDS)[number]

/** A durable message to a scope, written with the event that caused it. Unique per scope, source event and kind. */
export interface Notice {
  readonly scope: Scope
  readonly pid: Pid
  readonly seq: number
  readonly kind: NoticeKind
  readonly at: number
  readonly payload: Json
  readonly replyTo: Json
}

/** Further facts that decide about notices. */
export interface NoticeFacts {
  readonly group: Group | null
  /** The record of the parent, if `parentDeciding` names one. */
  readonly parent: ProcessRecord | null
}

/** The notices that `event`, which led to `record`, makes. Pure, so that the outbox can be checked against the log. */
export function noticesOf(record: ProcessRecord, event: ProcessEvent, facts: NoticeFacts): Notice[] {
  if (record.outcome !== null && isEndOf(record, event))
    return noticesOfEnd(record, record.outcome, event, facts)
  const type = own(record.eventTypes, event.type)
  const message = type === undefined ? messageOf(record, event) : null
  if (message !== null) return [message]
  const content = type === undefined ? contentOf(record, event) : null
  if (content !== null) return toListener(record, event, content)
  if (type?.wake !== true || record.wakeTarget === null) return []
  const scope: Scope = `session:${record.wakeTarget}`
  return [
    {
      ...about(record, event),
      scope,
      kind: 'wake',
      payload: { ...namesOf(record), type: event.type, value: event.payload },
    },
  ]
}

/** A message goes to its addressee, not to the listener. One that a wait took at once makes no notice. */
function messageOf(record: ProcessRecord, event: ProcessEvent): Notice | null {
  const known = knownEvent(event)
  if (known?.type === 'message_received') {
    const { taken, ...message } = known.payload
    const { pid } = record
    const { replyTo } = message
    return taken
      ? null
      : {
          ...about(record, event),
          scope: `process:${pid}`,
          kind: 'message',
          payload: asJson(message),
          replyTo,
        }
  }
  if (known?.type !== 'message_sent') return null
  const { to, ...message } = known.payload
  const payload = { ...namesOf(record), ...asJson(message) }
  return { ...about(record, event), scope: to, kind: 'message', payload, replyTo: message.replyTo }
}

/** The person at the machine. Only the host reads this inbox. */
const PERSON: Scope = 'human:host'

/** The scope that a process reports to: its wake target, else its session, else its parent. */
export function ownListenerOf(record: Pick<ProcessRecord, 'wakeTarget' | 'owner' | 'parent'>): Scope | null {
  const session = record.wakeTarget ?? record.owner.session
  if (session !== undefined) return `session:${session}`
  return record.parent === null ? null : `process:${record.parent}`
}

/** The scope that gets the notices of a process. A command without one that asks for notices reports to the person at the machine. */
export function listenerOf(record: ProcessRecord): Scope | null {
  const own = ownListenerOf(record)
  if (own !== null) return own
  return record.kind === 'command' && asksForNotices(record.spec) ? PERSON : null
}

/** Whether a spec asks for notices. The end is reported by default if there is a scope, so only an explicit `notify` counts. */
function asksForNotices({ notify, watch, ready, heartbeatMs }: ProcessRecord['spec']): boolean {
  return (
    (notify !== undefined && notify !== 'none') ||
    watch !== undefined ||
    ready !== undefined ||
    heartbeatMs !== undefined
  )
}

/** Matches that a flood held back are released in one notice, whose source is the event that tripped the limit. */
export function releasedNotice(
  scope: Scope,
  tripped: { readonly seq: number; readonly at: number; readonly held: number },
  by: ProcessRecord,
  at: number,
): Notice {
  const { seq, held } = tripped
  const payload = { ...namesOf(by), held, trippedAt: tripped.at }
  return { scope, pid: by.pid, seq, kind: 'overflow_released', at, payload, replyTo: by.replyTo }
}

/**
 * The parent whose record decides whether the end of this process makes a notice; null if no parent does. Only the parent of an
 * awaited process or of a tool call is asked for, so that other ends cost no question.
 */
export function parentDeciding({ parent, owner, awaitedBy, group, spec }: ProcessRecord): Pid | null {
  if (parent === null || group !== null || spec['notify'] !== undefined) return null
  return owner.toolCall !== undefined || awaitedBy.includes(parent) ? parent : null
}

/**
 * Whether the outcome gets to the asker of the process, so that a notice would tell it twice: the parent waits for this end
 * and gets the outcome in its log, or the process is a tool call, whose caller reads its outcome. A process that a tool call
 * started has the same owner, but its caller does not wait for it.
 */
function hasReader({ pid, owner, parent: above }: ProcessRecord, parent: ProcessRecord | null): boolean {
  const isAwaited = parent !== null && waitsOf(parent).some(({ on, name }) => on === 'child' && name === pid)
  if (isAwaited || owner.toolCall === undefined) return isAwaited
  return above === null || (parent !== null && parent.owner.toolCall !== owner.toolCall)
}

function noticesOfEnd(
  record: ProcessRecord,
  outcome: Outcome,
  event: ProcessEvent,
  { group, parent }: NoticeFacts,
): Notice[] {
  if (group !== null) {
    if (!isComplete(group) || group.scope === null) return []
    const payload = { group: group.name, seats: asJson(group.seats) }
    return [{ ...about(record, event), scope: group.scope, kind: 'group_completion', payload }]
  }
  if (!isWanted(record, outcome, parent)) return []
  const { status, exitCode, signal, reason, source, evidence, startedAt, endedAt } = outcome
  const payload = {
    ...namesOf(record),
    status,
    exitCode,
    signal,
    reason,
    source,
    evidence,
    startedAt,
    endedAt,
    ...(record.kind === 'command' ? unreportedIn(outcome) : {}),
    ...saidByPerson(record, outcome),
  }
  return toListener(record, event, { kind: 'completion', payload })
}

/**
 * Whether the end is reported: the spec decides, or whether the outcome has a reader. If a watch was disabled, missed output or
 * still holds matches back, the end is always reported: the completion carries their count.
 */
function isWanted(record: ProcessRecord, { status, result }: Outcome, parent: ProcessRecord | null): boolean {
  const { spec, watches, kind } = record
  // The agent has it in its log, and a failure is an alert there.
  if (isMemoryJob(record)) return false
  if (Object.values(watches).some(({ disabled }) => disabled)) return true
  const { missed, heldBack } = objectOf(result)
  if (kind === 'command' && (missed !== undefined || heldBack !== undefined)) return true
  if (spec['notify'] === 'none') return false
  if (spec['notify'] === undefined) return !hasReader(record, parent)
  return spec['notify'] !== 'failure' || status !== 'completed'
}

/**
 * Output that its watches did not report: matches that were held back for a next one that never came, and output that was not
 * scanned. Also whether it is started again, or why it could not start at all.
 */
function unreportedIn({ result, reason }: Outcome): JsonObject {
  const { heldBack, missed, restart, message, remedy } = objectOf(result)
  return {
    ...(heldBack === undefined ? {} : { heldBack }),
    ...(missed === undefined ? {} : { missed }),
    ...(restart === undefined ? {} : { restart }),
    ...(reason === 'failed_start' && message !== undefined ? { message, remedy: remedy ?? null } : {}),
  }
}

/** How much of a reply a notice carries; the result of the process has all of it. */
const MAX_REPLY_CHARS = 2_000

/** What a person said to a process that did not begin. */
function saidByPerson(record: ProcessRecord, { status, result }: Outcome): JsonObject {
  if (record.gate?.state !== 'denied' && record.gate?.state !== 'answered') return {}
  const { advice } = objectOf(result)
  if (status !== 'completed') return typeof advice === 'string' ? { advice } : {}
  const reply = typeof result === 'string' ? result : JSON.stringify(result)
  return { reply: reply.length > MAX_REPLY_CHARS ? `${reply.slice(0, MAX_REPLY_CHARS)}…` : reply }
}

interface NoticeContent {
  readonly kind: NoticeKind
  readonly payload: JsonObject
}

function contentOf(record: ProcessRecord, event: ProcessEvent): NoticeContent | null {
  const known = knownEvent(event)
  switch (known?.type) {
    case 'watch_matched': {
      const { told, ...match } = known.payload
      if (told === 'held') return null
      const kind = told === 'match' ? 'watch_match' : 'overflow_tripped'
      return { kind, payload: { ...namesOf(record), ...asJson(match) } }
    }
    case 'watch_disabled':
      return { kind: 'watch_disabled', payload: { ...namesOf(record), ...known.payload } }
    case 'ready':
    case 'ready_timed_out':
      return {
        kind: 'ready',
        payload: { ...namesOf(record), ready: known.type === 'ready', ...known.payload },
      }
    case 'heartbeat':
      return { kind: 'heartbeat', payload: { ...namesOf(record), ...known.payload } }
    case 'wait_entered':
      return known.payload.on === 'approval' && known.payload.again !== true
        ? { kind: 'approval', payload: approvalOf(record, known.payload) }
        : null
    case 'approval_requested': {
      const { approval, expiresAt } = known.payload
      const isAsked = isQuestion(record) ? { question: true } : {}
      return { kind: 'approval', payload: { ...namesOf(record), approval, until: expiresAt, ...isAsked } }
    }
    case 'approval_settled': {
      const { approval, how } = known.payload
      // Every other answer is followed by the end, which is told.
      return how === 'approved'
        ? {
            kind: 'approval',
            payload: { ...namesOf(record), approval, how, ...editedBy(record, known.payload) },
          }
        : null
    }
    case 'limit_near':
      return {
        kind: 'limit_warning',
        payload: { ...namesOf(record), ...asJson(known.payload) },
      }
    default:
      return null
  }
}

/** What runs instead of what was asked for, if the answer changed it. Variables and input are named, and not shown. */
function editedBy({ kind, spec }: ProcessRecord, { spec: edited }: ApprovalSettled): JsonObject {
  if (edited === undefined) return {}
  return { runs: labelOf({ kind, spec: edited }), changed: Object.keys(changedFields(spec, edited)) }
}

/** Without the key that answers it: approvers get the key from elsewhere. */
function approvalOf(
  record: ProcessRecord,
  {
    name: wait,
    ordinal,
    until,
  }: { readonly name: string; readonly ordinal: number; readonly until: number | null },
): JsonObject {
  return { ...namesOf(record), wait, ordinal, until }
}

/** Whether an approval notice is about this wait. */
export function tellsOf(
  payload: Json,
  { name, ordinal }: { readonly name: string; readonly ordinal: number },
): boolean {
  const { wait, ordinal: told } = payload as JsonObject
  return wait === name && told === ordinal
}

function toListener(record: ProcessRecord, event: ProcessEvent, content: NoticeContent): Notice[] {
  const scope = listenerOf(record)
  return scope === null ? [] : [{ ...about(record, event), scope, ...content }]
}

function about(record: ProcessRecord, event: ProcessEvent) {
  return { pid: record.pid, seq: event.seq, at: event.at, replyTo: record.replyTo }
}

function namesOf({ identity, name }: ProcessRecord) {
  return { label: identity.label, name }
}

/** An end is always the last event. */
function isEndOf(record: ProcessRecord, event: ProcessEvent): boolean {
  return record.revision === event.seq
}
