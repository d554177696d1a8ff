import { isOfLostCall, NO_MEMORY, usesOf } from '../memory/memory-note.ts'
import type { Decision } from '../process/decision.ts'
import type { Draft } from './draft.ts'
import { type NoteMemoryRequest, requestKey } from './request.ts'

const MAX_MESSAGE_CHARS = 1_000

/** The job that keeps the memory of an agent has done something. Also while the agent is in a turn: nothing of it changes the turn. */
export function decideNoteMemory(draft: Draft, request: NoteMemoryRequest): Decision {
  const { note } = request
  const { memory = NO_MEMORY, turns } = draft.agent
  if (isOfLostCall(memory, note)) return { type: 'keep' }
  const uses = usesOf(memory, note)
  draft.add({ type: 'memory_noted', payload: { note } }, requestKey(request))
  for (const use of uses)
    draft.add({ type: 'model_used', payload: { turn: turns, call: 0, ...use, memory: true } })
  if (note.type === 'failed') {
    const message = note.message.slice(0, MAX_MESSAGE_CHARS).toWellFormed()
    draft.add({ type: 'agent_alerted', payload: { turn: turns, alert: 'memory_failed', message } })
  }
  return draft.decision()
}
