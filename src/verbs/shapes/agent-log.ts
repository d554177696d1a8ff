import * as z from 'zod'
import { LOGGED, type LogItem } from '../../core/agent/log-view.ts'
import { actor } from './actor.ts'
import { parts } from './agent.ts'
import { type AgentPayloads, agentPayloads } from './agent-event.ts'
import { count, pid, time } from './scalars.ts'

const promoted = { turn: count, call: count, parts }

function itemOf(type: (typeof LOGGED)[number], payload: z.ZodType) {
  return z.strictObject({ pid, seq: count, at: time, actor, type: z.literal(type), payload })
}

function payloadOf(type: (typeof LOGGED)[number], payloads: AgentPayloads): z.ZodType {
  switch (type) {
    case 'input_promoted':
      return z.strictObject({ ...promoted, input: z.string(), seq: count })
    case 'notices_promoted':
      return z.strictObject({ ...promoted, seqs: z.array(count), more: count })
    default:
      return payloads[type]
  }
}

const [first, ...others] = LOGGED

/** `type` decides which payload an item has. */
export const logItem = z.lazy(() => {
  const payloads = agentPayloads()
  return z.discriminatedUnion('type', [
    itemOf(first, payloadOf(first, payloads)),
    ...others.map((type) => itemOf(type, payloadOf(type, payloads))),
  ])
}) as unknown as z.ZodType<LogItem>
