import { asJson } from '../json/json.ts'
import type { Decision } from '../process/decision.ts'
import type { Draft } from './draft.ts'
import { type AgentAnswer, type PlainRequest, requestKey } from './request.ts'

/** Adds the request with its answer: a repetition gets the same. */
export function answered(draft: Draft, request: PlainRequest, answer: AgentAnswer): Decision {
  // Nothing comes after the end of a process.
  const end = draft.record.outcome === null ? undefined : draft.events.pop()
  const asked = { type: 'agent_requested', payload: { request, answer } } as const
  if (end === undefined) draft.add(asked, requestKey(request))
  else
    draft.events.push(
      { type: asked.type, payload: asJson(asked.payload), replayKey: requestKey(request) },
      end,
    )
  return draft.decision(answer)
}
