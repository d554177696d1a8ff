import { type Decision, refuse } from '../process/decision.ts'
import type { ProcessRecord } from '../process/record.ts'
import { startSpecOf } from '../process/spec.ts'
import { isRefusal, type Refusal, refusal } from '../refusal.ts'
import { answered } from './answered.ts'
import type { Draft } from './draft.ts'
import { isOutsideModel } from './outside.ts'
import { alreadyRunning, invalidRequest, refuseHead } from './refusals.ts'
import type { RewindRequest } from './request.ts'
import { type RewindTarget, refuseTarget } from './rewind.ts'
import { phaseOf } from './state.ts'
import { beginTurn } from './turns.ts'

/**
 * Moves the head. The branch that it leaves stays, and can be selected again. `target` is what the log says of the place to go to; absent
 * where the state does not allow a rewind. The files are put back in a turn, so that a crash does not end that work.
 */
export function decideRewind(
  draft: Draft,
  request: RewindRequest,
  target: RewindTarget | Refusal | undefined,
): Decision {
  const { record } = draft
  const refused = refusePhase(record) ?? refuseHead(record, request.expectedHead)
  if (refused !== undefined) return refuse(refused)
  if (target === undefined || (!isRefusal(target) && target.revision !== record.revision))
    return refuse(goneOn(record))
  const wrong = isRefusal(target) ? target : refuseTarget(record, request, target)
  if (wrong !== undefined) return refuse(wrong)
  if (isRefusal(target)) return refuse(target)
  const { to, left, last, turns, state, undone, removed, since } = target
  const { head: from } = draft.agent
  const { label } = request
  draft.add({
    type: 'session_rewound',
    payload: { from, to, left, last, turns, ...state, ...(label === undefined ? {} : { label }), undone },
  })
  const turn =
    request.undoFiles === true
      ? beginTurn(draft, { cause: 'rewind', asker: draft.actor, undoSince: since })
      : null
  const { head } = draft.agent
  return answered(draft, request, { type: 'rewound', from, head, left, last, turn, undone, removed })
}

/** A session is listed for a rewind between turns: the open turn has no end that could be gone back to. */
export function refuseRewindList(record: ProcessRecord): Refusal | undefined {
  return phaseOf(record) === 'running' ? alreadyRunning(record, WAIT) : refuseOutside(record)
}

function refusePhase(record: ProcessRecord): Refusal | undefined {
  const phase = phaseOf(record)
  if (phase === 'running') return alreadyRunning(record, WAIT)
  if (phase === 'paused')
    return invalidRequest(record, 'a paused turn cannot be rewound', 'Resume it or cancel it first.')
  return refuseOutside(record)
}

const WAIT = 'Wait until the turn has ended, or cancel it first.'

/** The program of an outside agent has its own history, which Reeve cannot shorten. */
function refuseOutside(record: ProcessRecord): Refusal | undefined {
  if (!isOutsideModel(startSpecOf(record)['model'])) return undefined
  return invalidRequest(
    record,
    'its program has its own history, which Reeve cannot rewind',
    'Start another agent.',
  )
}

/** The log was read before the transaction, and there are newer events. */
function goneOn({ pid, revision }: ProcessRecord): Refusal {
  return refusal('conflict', `The log of ${pid} went on while it was read.`, 'Ask again.', { revision })
}
