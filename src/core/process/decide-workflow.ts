import { holds } from '../lease/lease.ts'
import { type Refusal, refusal } from '../refusal.ts'
import { stopping } from './decide-stop.ts'
import { isWait } from './decide-wait.ts'
import {
  alreadyEnded,
  append,
  type Decision,
  type Facts,
  newEvent,
  type Rules,
  refuse,
  refuseSize,
  staleFence,
} from './decision.ts'
import { type Intent, stepKey, stepTriedKey } from './intent.ts'
import { hasEnded, type ProcessRecord } from './record.ts'
import type { ProcessRow } from './row.ts'
import { dueIn, waitsOf } from './wait.ts'

/** Ends one step. Its index is its key in the log: the first end of a step counts, and later ones change nothing. */
export function decideEndStep(
  { row, replayed }: Facts,
  intent: Extract<Intent, { type: 'end_step' }>,
  rules: Rules,
): Decision {
  const refused = refuseStep(row, intent)
  if (refused !== undefined) return refuse(refused)
  if (replayed !== null) return { type: 'replay', event: replayed }
  const { step } = intent
  const said = step.how === 'done' ? (step.value ?? null) : [step.error, step.thrown ?? null]
  const tooLarge = refuseSize(`The result of step ${step.name}`, said, rules)
  if (tooLarge !== undefined) return refuse(tooLarge)
  return append({ type: 'step_ended', payload: step, replayKey: stepKey(step.stepIndex) })
}

export function decideRetryStep(
  { row, replayed }: Facts,
  intent: Extract<Intent, { type: 'retry_step' }>,
): Decision {
  const refused = refuseStep(row, intent)
  if (refused !== undefined) return refuse(refused)
  if (replayed !== null) return { type: 'replay', event: replayed }
  const { step } = intent
  return append({ type: 'step_tried', payload: step, replayKey: stepTriedKey(step.stepIndex, step.tries) })
}

/** Gives the lease back and goes on waiting. Refused if something that it waits for has arrived since. */
export function decidePark(row: ProcessRow, intent: Extract<Intent, { type: 'park' }>): Decision {
  const { record } = row
  if (hasEnded(record)) return refuse(alreadyEnded(record))
  // A repetition, because the answer was lost: no holder has claimed the process since.
  if (record.parked && row.holder === null && row.fence === intent.fence.fence) return { type: 'keep' }
  if (!holds(row, intent.fence)) return refuse(staleFence(record, intent.fence))
  if (record.stopRequest !== null) return refuse(stopping(record))
  const waits = waitsOf(record)
  const waitsStill = intent.waits.every((asked) => waits.some((wait) => isWait(wait, asked)))
  if (record.recovery !== 'rerunnable' || record.abandonRequest !== null || !waitsStill || waits.length === 0)
    return refuse(notToPark(record))
  const until = dueIn(record)
  const { fence, snapshot } = intent
  const payload = { holder: fence.holder, until, ...(snapshot === undefined ? {} : { snapshot }) }
  return {
    type: 'append',
    events: [newEvent({ type: 'parked', payload })],
    lease: { holder: null, fence: row.fence },
  }
}

/** The record names the processes that wait for this end, so that other ends cost nothing more. */
export function decideAwaitEnd(row: ProcessRow, intent: Extract<Intent, { type: 'await_end' }>): Decision {
  const { record } = row
  if (hasEnded(record)) return refuse(alreadyEnded(record))
  if (record.awaitedBy.includes(intent.by)) return { type: 'keep' }
  return append({ type: 'awaited', payload: { by: intent.by } })
}

function refuseStep(
  row: ProcessRow,
  { fence }: Extract<Intent, { type: 'end_step' | 'retry_step' }>,
): Refusal | undefined {
  const { record } = row
  if (hasEnded(record)) return alreadyEnded(record)
  if (!holds(row, fence)) return staleFence(record, fence)
  if (record.kind === 'workflow') return undefined
  return refusal(
    'conflict',
    `${record.pid} is a ${record.kind}; only workflows have steps.`,
    'Append an event of a type that it declares.',
  )
}

function notToPark(record: ProcessRecord): Refusal {
  return refusal(
    'not_waiting',
    `${record.pid} cannot be parked: it no longer waits for all that it waited for.`,
    'Go on with the wait that has ended.',
  )
}
