import { decideAgentAct } from '../agent/decide-act.ts'
import { decideAgentRequest, decidePauseAgent, decideResumeAgent } from '../agent/decide-request.ts'
import { afterPutBack, withTurnClosed } from '../agent/from-outside.ts'
import { sameJson } from '../json/canonical.ts'
import { asJson, type Json } from '../json/json.ts'
import { holds } from '../lease/lease.ts'
import { refusal } from '../refusal.ts'
import { decideAppend } from './decide-append.ts'
import { decideAskAgain, decideSettleApproval } from './decide-approval.ts'
import { decideMessage } from './decide-message.ts'
import { decideBeat, decideDisableWatch, decideMatch, decideReadiness } from './decide-output.ts'
import {
  decideAbandon,
  decideGiveUp,
  decidePutBack,
  decideRelease,
  decideRequestAbandon,
  decideSettleStop,
  decideTakeOver,
} from './decide-settle.ts'
import { decideConfirmStop, decidePause, decideResume, decideStop } from './decide-stop.ts'
import { decideAnswer, decideEnterWait, decideLeaveWait, decideSignal } from './decide-wait.ts'
import { decideAwaitEnd, decideEndStep, decidePark, decideRetryStep } from './decide-workflow.ts'
import {
  alreadyEnded,
  append,
  type Decision,
  ended,
  type Facts,
  needsFence,
  type Rules,
  refuse,
  refuseSize,
  replayConflict,
  staleFence,
  whileLive,
} from './decision.ts'
import type { StoredEvent } from './event.ts'
import { awaitsApproval } from './gate.ts'
import { decideGiveUpStop } from './give-up-stop.ts'
import { type Intent, nearLimitKey } from './intent.ts'
import { hasEnded, type Outcome, type ProcessRecord } from './record.ts'
import type { ProcessRow } from './row.ts'
import { wakesAt } from './wait.ts'

/** What may happen to a process. Pure and total: the clock arrives inside the intent, and a no is a value. */
export function decide(facts: Facts, intent: Intent, rules: Rules): Decision {
  const decision = decideAny(facts, intent, rules)
  return facts.row.record.agent === null ? decision : withTurnClosed(facts.row, decision, intent)
}

function decideAny(facts: Facts, intent: Intent, rules: Rules): Decision {
  switch (intent.type) {
    case 'start':
      return decideStart(facts.row, intent)
    case 'program_started':
      return decideProgramStarted(facts.row, intent)
    case 'match':
      return decideMatch(facts, intent, rules)
    case 'disable_watch':
      return decideDisableWatch(facts.row, intent)
    case 'settle_readiness':
      return decideReadiness(facts.row, intent)
    case 'beat':
      return decideBeat(facts.row, intent)
    case 'end':
      return decideEnd(facts, intent, rules)
    case 'append':
      return decideAppend(facts, intent, rules)
    case 'stop':
      return decideStop(facts, intent)
    case 'near_limit':
      return decideNearLimit(facts, intent)
    case 'confirm_stop':
      return decideConfirmStop(facts.row, intent)
    case 'pause':
      return facts.row.record.agent === null
        ? decidePause(facts.row, intent)
        : decidePauseAgent(facts, intent)
    case 'resume':
      return facts.row.record.agent === null
        ? decideResume(facts.row, intent)
        : decideResumeAgent(facts, intent)
    case 'signal':
      return decideSignal(facts, intent, rules)
    case 'message':
      return decideMessage(facts, intent, rules)
    case 'enter_wait':
      return decideEnterWait(facts, intent)
    case 'leave_wait':
      return decideLeaveWait(facts, intent)
    case 'answer':
      return decideAnswer(facts, intent, rules)
    case 'settle_approval':
      return decideSettleApproval(facts.row, intent)
    case 'ask_again':
      return decideAskAgain(facts.row, intent)
    case 'end_step':
      return decideEndStep(facts, intent, rules)
    case 'retry_step':
      return decideRetryStep(facts, intent)
    case 'park':
      return decidePark(facts.row, intent)
    case 'await_end':
      return decideAwaitEnd(facts.row, intent)
    case 'agent_request':
      return decideAgentRequest(facts, intent, rules)
    case 'agent_act':
      return decideAgentAct(facts, intent, rules)
    case 'request_abandon':
      return decideRequestAbandon(facts.row, intent)
    case 'change_owner':
      return whileLive(facts.row, () =>
        append({
          type: 'reowned',
          payload: {
            owner: intent.owner,
            ...(facts.sessionsAbove === undefined ? {} : { sessionsAbove: facts.sessionsAbove }),
          },
        }),
      )
    case 'change_cwd':
      return whileLive(facts.row, () => append({ type: 'cwd_changed', payload: { cwd: intent.cwd } }))
    case 'set_external_ref':
      return decideExternalRef(facts.row, intent.ref, rules)
    case 'clear_wake_target':
      return facts.row.record.wakeTarget === intent.session && !hasEnded(facts.row.record)
        ? append({ type: 'wake_target_cleared', payload: { session: intent.session } })
        : { type: 'keep' }
    case 'reveal':
      return decideReveal(facts.row, intent)
    case 'put_back':
      return afterPutBack(facts.row, decidePutBack(facts.row, intent), intent)
    case 'abandon':
      return decideAbandon(facts.row, intent)
    case 'give_up':
      return afterPutBack(facts.row, decideGiveUp(facts.row, intent), intent)
    case 'settle_stop':
      return decideSettleStop(facts.row, intent)
    case 'give_up_stop':
      return decideGiveUpStop(facts.row, intent)
    case 'take_over':
      return decideTakeOver(facts.row, intent)
    case 'release':
      return afterPutBack(facts.row, decideRelease(facts.row, intent), intent)
  }
}

/** Each limit is reported once. */
function decideNearLimit(
  { row, replayed }: Facts,
  { near }: Extract<Intent, { type: 'near_limit' }>,
): Decision {
  if (replayed !== null) return { type: 'keep' }
  const event = { type: 'limit_near', payload: near, replayKey: nearLimitKey(near.limit) }
  return whileLive(row, () => append(event))
}

function decideStart(row: ProcessRow, intent: Extract<Intent, { type: 'start' }>): Decision {
  const { record } = row
  if (hasEnded(record)) return refuse(alreadyEnded(record))
  if (!holds(row, intent.fence)) return refuse(staleFence(record, intent.fence))
  const due = wakesAt(record)
  if (awaitsApproval(record) || (record.status !== 'queued' && (due === null || due > intent.at))) {
    return refuse(
      refusal(
        'not_claimable',
        `${record.pid} is ${record.status}, not queued.`,
        'Wait until it is queued, or look at it first.',
      ),
    )
  }
  return append({ type: 'started', payload: { holder: intent.fence.holder, attempt: record.attempts + 1 } })
}

/** Recorded once: a program starts at most once per process. */
function decideProgramStarted(
  row: ProcessRow,
  intent: Extract<Intent, { type: 'program_started' }>,
): Decision {
  const { record } = row
  if (hasEnded(record)) return refuse(alreadyEnded(record))
  if (!holds(row, intent.fence)) return refuse(staleFence(record, intent.fence))
  if (record.program !== null) return { type: 'keep' }
  return append({ type: 'program_started', payload: intent.program })
}

function decideEnd(
  { row, replayed }: Facts,
  intent: Extract<Intent, { type: 'end' }>,
  rules: Rules,
): Decision {
  const { record } = row
  if (record.outcome !== null) return replayOfEnd(record, record.outcome, replayed, intent)
  const unfenced = needsFence(row, intent.fence)
  if (unfenced) return refuse(unfenced)
  const tooLarge = refuseSize('The result', intent.ending.result ?? null, rules)
  if (tooLarge !== undefined) return refuse(tooLarge)
  const outcome = endingToOutcome(record, intent)
  return {
    type: 'append',
    events: [ended(outcome, intent.replayKey)],
    lease: { holder: null, fence: row.fence },
  }
}

/** An exact retry of the first end is answered with it; anything else after the end is refused. */
function replayOfEnd(
  record: ProcessRecord,
  first: Outcome,
  replayed: StoredEvent | null,
  intent: Extract<Intent, { type: 'end' }>,
): Decision {
  if (replayed === null) return refuse(alreadyEnded(record))
  const again = {
    ...endingToOutcome(record, intent),
    endedAt: first.endedAt,
    startedAt: first.startedAt,
    source: first.source,
  }
  if (replayed.type === 'ended' && sameJson(asJson(again), asJson(first)))
    return { type: 'replay', event: replayed }
  return refuse(replayConflict(record, intent.replayKey))
}

function endingToOutcome(record: ProcessRecord, intent: Extract<Intent, { type: 'end' }>): Outcome {
  const { ending } = intent
  const stopped = ending.status === 'cancelled' ? record.stopRequest : null
  return {
    status: ending.status,
    exitCode: ending.exitCode ?? null,
    signal: ending.signal ?? null,
    reason: ending.reason ?? stopped?.reason ?? null,
    source: stopped?.source ?? null,
    result: ending.result ?? null,
    evidence: null,
    startedAt: record.firstStarted?.at ?? null,
    endedAt: seenAt(record, intent),
  }
}

/** Between its start and now, even if clocks disagree. */
function seenAt(record: ProcessRecord, { ending, at }: Extract<Intent, { type: 'end' }>): number {
  const earliest = record.firstStarted?.at ?? record.createdAt
  return Math.max(earliest, Math.min(ending.endedAt ?? at, at))
}

/** The end is always the last event, so a reveal of an ended process makes no event: the audit has it. */
function decideReveal(row: ProcessRow, { actor, verb }: Extract<Intent, { type: 'reveal' }>): Decision {
  return hasEnded(row.record)
    ? { type: 'keep' }
    : append({ type: 'revealed', payload: { source: actor, verb } })
}

function decideExternalRef(row: ProcessRow, ref: Json, rules: Rules): Decision {
  const { record } = row
  if (record.kind !== 'external') {
    return refuse(
      refusal(
        'not_external',
        `${record.pid} is a ${record.kind}; only external processes have an outside reference.`,
        'Register it with kind external.',
      ),
    )
  }
  const tooLarge = refuseSize('The reference', ref, rules)
  if (tooLarge !== undefined) return refuse(tooLarge)
  return whileLive(row, () =>
    record.externalRef === null ? append({ type: 'external_ref_set', payload: { ref } }) : { type: 'keep' },
  )
}
