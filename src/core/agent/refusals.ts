import type { ProcessRecord } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'
import type { OpenTurn, ToolCallRef } from './state.ts'

export function notAnAgent({ pid, kind }: ProcessRecord): Refusal {
  return refusal(
    'invalid_request',
    `${pid} is no agent that Reeve drives (${kind}).`,
    'Name an agent whose spec has a model.',
  )
}

export function alreadyRunning(
  { pid, agent }: ProcessRecord,
  remedy = 'Queue the input, or steer with it; or cancel the turn first.',
): Refusal {
  return refusal('already_running', `${pid} is at work on turn ${agent?.turn?.number ?? 0}.`, remedy, {
    turn: agent?.turn?.number ?? null,
  })
}

export function notRunning({ pid, status }: ProcessRecord): Refusal {
  return refusal(
    'not_running',
    `${pid} is ${status === 'paused' ? 'paused' : 'idle'}: no turn is running.`,
    'Look at its state first.',
  )
}

export function invalidRequest({ pid }: ProcessRecord, problem: string, remedy: string): Refusal {
  return refusal('invalid_request', `${pid}: ${problem}.`, remedy)
}

/** The caller has seen another state of the session than this one. */
export function refuseHead({ pid, agent }: ProcessRecord, expected: number | undefined): Refusal | undefined {
  if (expected === undefined || agent === null || agent.head === expected) return undefined
  return refusal(
    'conflict',
    `The head of ${pid} is ${agent.head}, not ${expected}: the session has gone on.`,
    'Read the new entries, and ask again.',
    { head: agent.head },
  )
}

/** Between model calls: none is under way, and every tool call has its result. */
export function refuseBetween(record: ProcessRecord, turn: OpenTurn): Refusal | undefined {
  const { call, tools } = turn
  if (call === null && tools.length === 0) return undefined
  const open =
    call === null ? `${tools.length} tool calls have no result` : `model call ${call.number} is open`
  return refusal(
    'conflict',
    `Turn ${turn.number} of ${record.pid} is in the middle of an answer: ${open}.`,
    'Ask its state what to do next.',
  )
}

/** No model is called while files are put back: its tools would read and write the same files. */
export function refuseUndoing({ pid }: ProcessRecord, turn: OpenTurn): Refusal | undefined {
  if (turn.undoSince === undefined) return undefined
  return refusal(
    'conflict',
    `Turn ${turn.number} of ${pid} puts files back.`,
    'Ask its state what to do next.',
  )
}

export function noCall({ pid }: ProcessRecord, call: number): Refusal {
  return refusal(
    'conflict',
    `Model call ${call} of ${pid} is not under way.`,
    'Ask its state what to do next.',
  )
}

export function isPaused({ pid }: ProcessRecord): Refusal {
  return refusal('conflict', `${pid} is paused.`, 'Stop working on it until it is resumed.')
}

export function turnOver({ pid, agent }: ProcessRecord, turn: number): Refusal {
  return refusal(
    'turn_ended',
    `Turn ${turn} of ${pid} is over; its last one is ${agent?.turns ?? 0}.`,
    'Stop working on it, and ask the state what to do next.',
    { turn: agent?.turn?.number ?? null },
  )
}

/** A process of a tool call is registered only while the call is open: a cancel that was committed before has closed it. */
export function refuseClosedCall(
  parent: ProcessRecord | null,
  ref: ToolCallRef | undefined,
): Refusal | undefined {
  if (ref === undefined || parent === null) return undefined
  const turn = parent.agent?.turn ?? null
  const isOpen =
    turn?.number === ref.turn &&
    turn.tools.some(({ call, index }) => call === ref.call && index === ref.index)
  return isOpen ? undefined : turnOver(parent, ref.turn)
}
