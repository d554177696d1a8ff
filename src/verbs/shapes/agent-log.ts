import * as z from 'zod'
import type { LogItem } from '../../core/agent/log-view.ts'
import { actor } from './actor.ts'
import { parts } from './agent.ts'
import { agentPayloads } from './agent-event.ts'
import { count, pid, time } from './scalars.ts'

const promoted = { turn: count, call: count, parts }

/** `type` decides which payload an item has. */
export const logItem: z.ZodType<LogItem> = z.lazy(() => {
  const { turn_begun: first, ...others } = itemSchemas()
  return z.discriminatedUnion('type', [first, ...Object.values(others)])
})

/** In the order of the API reference. */
function itemSchemas() {
  const payloads = agentPayloads()
  return {
    turn_begun: itemOf('turn_begun', payloads.turn_begun),
    input_promoted: itemOf('input_promoted', z.strictObject({ ...promoted, input: z.string(), seq: count })),
    notices_promoted: itemOf(
      'notices_promoted',
      z.strictObject({ ...promoted, seqs: z.array(count), more: count }),
    ),
    model_call_begun: itemOf('model_call_begun', payloads.model_call_begun),
    assistant_item: itemOf('assistant_item', payloads.assistant_item),
    tool_called: itemOf('tool_called', payloads.tool_called),
    tool_answered: itemOf('tool_answered', payloads.tool_answered),
    system_item: itemOf('system_item', payloads.system_item),
    model_used: itemOf('model_used', payloads.model_used),
    model_call_cut: itemOf('model_call_cut', payloads.model_call_cut),
    model_call_retried: itemOf('model_call_retried', payloads.model_call_retried),
    agent_configured: itemOf('agent_configured', payloads.agent_configured),
    session_continued: itemOf('session_continued', payloads.session_continued),
    session_rewound: itemOf('session_rewound', payloads.session_rewound),
    segment_begun: itemOf('segment_begun', payloads.segment_begun),
    agent_alerted: itemOf('agent_alerted', payloads.agent_alerted),
    files_put_back: itemOf('files_put_back', payloads.files_put_back),
    agent_failed: itemOf('agent_failed', payloads.agent_failed),
    turn_ended: itemOf('turn_ended', payloads.turn_ended),
  } satisfies { readonly [Type in LogItem['type']]: z.ZodType }
}

function itemOf<Type extends LogItem['type'], Payload extends z.ZodType>(type: Type, payload: Payload) {
  return z.strictObject({ pid, seq: count, at: time, actor, type: z.literal(type), payload })
}
