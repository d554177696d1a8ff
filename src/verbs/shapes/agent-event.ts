import * as z from 'zod'
import { type AgentEvent, ALERTS, SYSTEM_ITEMS } from '../../core/agent/event.ts'
import { NEXT_TURNS } from '../../core/agent/goal.ts'
import type { AgentRequest } from '../../core/agent/request.ts'
import { COUNTED } from '../../core/allowance/amounts.ts'
import type { FileWrite } from '../../core/files/file-write.ts'
import { KEPT_REASONS } from '../../core/files/plan-undo.ts'
import { EFFORTS } from '../../core/model/prompt.ts'
import { actor } from './actor.ts'
import {
  branchState,
  callPlace,
  callPurpose,
  earlierLogs,
  forkedFrom,
  inputMode,
  noticeCause,
  openToolCall,
  parts,
  toolCallRef,
  turnCause,
  turnRanges,
  turnReason,
  unanswered,
  until,
} from './agent.ts'
import { agentAnswer } from './agent-answer.ts'
import { place, undone } from './agent-rewind.ts'
import { amounts } from './allowance.ts'
import { json, jsonObject } from './json.ts'
import { memoryNote } from './memory.ts'
import { programState } from './outside-program.ts'
import { count, time } from './scalars.ts'

const id = z.string()
const input = z.string()
const interrupts = z.array(toolCallRef)

/** The methods of an agent. */
const agentRequest = (): z.ZodType<AgentRequest> =>
  z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('run'),
      id,
      mode: inputMode,
      parts,
      expectedHead: place.exactOptional(),
      schema: jsonObject.exactOptional(),
      until: until.exactOptional(),
      maxTurns: count.exactOptional(),
    }),
    z.strictObject({ type: z.literal('notify'), id, cause: noticeCause, parts }),
    z.strictObject({ type: z.literal('edit_input'), id, input, parts }),
    z.strictObject({ type: z.literal('resume'), id }),
    z.strictObject({ type: z.literal('cancel_turn'), id, dropQueued: z.boolean().exactOptional() }),
    z.strictObject({ type: z.literal('pause'), id }),
    z.strictObject({ type: z.literal('compact'), id, expectedHead: place.exactOptional() }),
    z.strictObject({
      type: z.literal('rewind'),
      id,
      to: z.union([z.strictObject({ turn: count }), z.strictObject({ branch: z.string() })]),
      label: z.string().exactOptional(),
      undoFiles: z.boolean().exactOptional(),
      expectedHead: place.exactOptional(),
    }),
    z.strictObject({ type: z.literal('shutdown'), id, reason: z.string().exactOptional() }),
    z.strictObject({ type: z.literal('remove_input'), id, input }),
    z.strictObject({ type: z.literal('reorder_inputs'), id, inputs: z.array(input) }),
    z.strictObject({ type: z.literal('configure'), id, model: z.string() }),
    z.strictObject({ type: z.literal('allow'), id, amounts }),
    z.strictObject({ type: z.literal('exceed_limit'), id, limit: z.enum(COUNTED) }),
  ])

export type AgentPayloads = {
  readonly [Event in AgentEvent as Event['type']]: z.ZodType<Event['payload']>
}

const fileWrite = z.strictObject({
  path: z.string(),
  before: z.string().nullable().describe('the hash of the content before; null: there was no file'),
  after: z.string().nullable(),
  kept: z.literal(true).exactOptional().describe('the content before is kept'),
}) satisfies z.ZodType<FileWrite>

const inCall = { turn: count, call: count }
const check = z.strictObject({
  holds: z.boolean(),
  found: z.string(),
  failed: z.literal(true).exactOptional(),
})

/** The payload of each event of a session log. */
export const agentPayloads = (): AgentPayloads => ({
  input_admitted: z.strictObject({
    input,
    mode: inputMode,
    parts,
    asker: actor,
    schema: jsonObject.exactOptional(),
    until: until.exactOptional(),
    maxTurns: count.exactOptional(),
    answer: agentAnswer,
  }),
  input_edited: z.strictObject({ input, parts, answer: agentAnswer }),
  input_removed: z.strictObject({ input }),
  inputs_reordered: z.strictObject({ inputs: z.array(input) }),
  input_promoted: z.strictObject({ ...inCall, input, seq: count }),
  notice_buffered: z.strictObject({
    notice: z.string(),
    cause: noticeCause,
    source: actor,
    parts,
    answer: agentAnswer,
    seatOf: z.string().exactOptional(),
    group: z.string().exactOptional(),
  }),
  notices_promoted: z.strictObject({ ...inCall, seqs: z.array(count), more: count }),
  agent_requested: z.strictObject({ request: agentRequest(), answer: agentAnswer }),
  turn_begun: z.strictObject({
    turn: count,
    cause: turnCause,
    asker: actor,
    input: input.nullable(),
    follows: place,
    segment: count,
    hasSchema: z.boolean(),
    interrupted: interrupts,
    goesOnWith: count
      .exactOptional()
      .describe('the turn that a limit ended before its first model call: this one answers its input'),
    undoSince: place.exactOptional().describe('after a rewind: file changes behind this place are undone'),
  }),
  model_call_begun: z.strictObject({ ...inCall, model: z.string(), purpose: callPurpose }),
  output_begun: z.strictObject({ ...inCall, from: count.exactOptional() }),
  assistant_item: z.strictObject({
    ...inCall,
    model: z.string(),
    parts,
    goesOn: z.literal(true).exactOptional().describe('more of the answer follows'),
  }),
  tool_called: z.strictObject({
    ...inCall,
    ...openToolCall,
    parts,
    isProviderExecuted: z.literal(true).exactOptional(),
    goesOn: z.literal(true).exactOptional().describe('more of the answer follows'),
  }),
  tool_answered: z.strictObject({
    ...inCall,
    index: count,
    callId: z.string(),
    parts,
    isError: z.boolean(),
    interrupted: z.literal(true).exactOptional(),
    pair: z.strictObject({ call: z.string(), result: z.string() }).exactOptional(),
    output: z
      .strictObject({ pid: z.string(), from: count, to: count, isOwn: z.literal(true).exactOptional() })
      .exactOptional()
      .describe('the output of a command that the result shows the end of'),
    changes: z.array(fileWrite).exactOptional().describe('the files that the call has written'),
    unverified: z
      .literal(true)
      .exactOptional()
      .describe('the call was stopped in the middle: whether it had an effect is unknown'),
  }),
  system_item: z.strictObject({ ...inCall, kind: z.enum(SYSTEM_ITEMS), parts }),
  model_used: z.strictObject({
    ...inCall,
    model: z.string(),
    inputTokens: count,
    cachedInputTokens: count,
    outputTokens: count,
    cost: z.number().nullable(),
    isEstimate: z.boolean(),
    memory: z.literal(true).exactOptional().describe('of the job that keeps long-term memory'),
  }),
  model_call_cut: z.strictObject({
    ...inCall,
    why: z.string(),
    from: count.exactOptional(),
    shown: count.exactOptional(),
  }),
  model_call_retried: z.strictObject({ ...inCall, failure: z.string(), retryAt: time, progress: json }),
  agent_configured: z.strictObject({ model: z.string(), effort: z.enum(EFFORTS).exactOptional() }),
  session_continued: z.strictObject({
    earlier: earlierLogs,
    turns: count,
    segment: z.strictObject({ number: count, from: place }),
    head: place.exactOptional(),
    branch: turnRanges.exactOptional(),
    fork: forkedFrom.exactOptional(),
  }),
  session_rewound: z.strictObject({
    from: place,
    to: place,
    left: count.nullable(),
    last: count.nullable(),
    turns: turnRanges.describe('the turns of the current branch'),
    ...branchState,
    unanswered,
    label: z.string().exactOptional(),
    undone,
  }),
  segment_begun: z.strictObject({
    ...inCall,
    segment: count,
    why: z.enum(['context', 'compaction']),
    origin: z.strictObject({ segment: count, head: place }),
    keepsFrom: place.nullable(),
    keeps: callPlace.exactOptional().describe('the first model call whose entries are kept'),
    parts,
  }),
  agent_alerted: z.strictObject({
    turn: count,
    alert: z.enum(ALERTS),
    message: z.string(),
    limit: z.enum(COUNTED).exactOptional(),
  }),
  agent_allowed: z.strictObject({ amounts }),
  turn_ended: z.strictObject({
    turn: count,
    reason: turnReason,
    calls: count,
    result: json.describe('null if `answer` says where it is'),
    answer: z
      .strictObject({ call: count, as: z.enum(['text', 'json']) })
      .exactOptional()
      .describe('the result is what the model said in this call, as text or as JSON'),
    message: z.string().exactOptional(),
    check: check.exactOptional(),
    goal: z.enum(NEXT_TURNS).exactOptional(),
  }),
  program_noted: z.strictObject({ program: programState }),
  memory_noted: z.strictObject({ note: memoryNote }),
  files_put_back: z.strictObject({
    turn: count,
    files: z.array(fileWrite),
    left: z
      .array(z.strictObject({ type: z.literal('left'), path: z.string(), why: z.enum(KEPT_REASONS) }))
      .exactOptional(),
    more: count.exactOptional(),
  }),
  agent_failed: z.strictObject({ turn: count, code: z.string(), message: z.string() }),
  agent_idled: z.strictObject({ turns: count, holder: z.string().nullable() }),
})
