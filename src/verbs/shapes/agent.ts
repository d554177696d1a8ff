import * as z from 'zod'
import { ALERTS } from '../../core/agent/event.ts'
import { FORK_MODES } from '../../core/agent/fork.ts'
import {
  type AgentState,
  CALL_PURPOSES,
  INPUT_MODES,
  NOTICE_CAUSES,
  type NoticeBuffer,
  type Part,
  TURN_CAUSES,
  TURN_REASONS,
  type Until,
} from '../../core/agent/state.ts'
import { COUNTED } from '../../core/allowance/amounts.ts'
import { PRESETS } from '../../core/capability/presets.ts'
import { IMAGE_REF } from '../../core/image/image.ts'
import { EFFORTS } from '../../core/model/prompt.ts'
import { actor } from './actor.ts'
import { place } from './agent-rewind.ts'
import { amounts } from './allowance.ts'
import { hooks } from './hook.ts'
import { json, jsonObject } from './json.ts'
import { mcpServers } from './mcp-servers.ts'
import { agentMemory, memory } from './memory.ts'
import { outsideProgram, programState } from './outside-program.ts'
import { count, time } from './scalars.ts'

/** An id like `anthropic/claude-opus-5-5`; whether there is such a model, its executor finds out. */
export const modelId = z
  .string()
  .max(200)
  .regex(/^[^\s/]+\/\S+$/, 'must be <provider>/<model>')
  .describe('a model, as provider/model')

const delegation = z.strictObject({
  depth: z.number().int().min(0).max(16).exactOptional().describe('levels of agents below it, of a root'),
  children: z.number().int().min(0).max(1_000).exactOptional().describe('live agents below it'),
})

/** The fields of an agent's spec besides its name and goal. */
export const agentFields = {
  image: z
    .string()
    .regex(IMAGE_REF, 'must be the name of an image, or name@hash')
    .exactOptional()
    .describe('the image that it is made from: fields that are left out have the values of the image'),
  model: z
    .string()
    .min(1)
    .max(200)
    .exactOptional()
    .describe(
      'the model that Reeve calls for it, as provider/model, or acp/<name> for an outside agent; without one Reeve does not drive it',
    ),
  fallbacks: z
    .array(modelId)
    .max(8)
    .exactOptional()
    .describe('models that are called instead, in this order, when the provider of the model fails'),
  effort: z
    .enum(EFFORTS)
    .exactOptional()
    .describe('how much the model thinks; each provider has its own steps'),
  maxOutputTokens: z
    .number()
    .int()
    .min(1)
    .max(10_000_000)
    .exactOptional()
    .describe('the longest answer of one model call, in tokens'),
  system: z.string().max(100_000).exactOptional().describe('its system prompt'),
  context: z
    .string()
    .max(100_000)
    .exactOptional()
    .describe('facts that it needs for its goal: the second part of its first input'),
  tools: z
    .array(z.string().min(1).max(200))
    .max(1_000)
    .exactOptional()
    .describe('the tools that it may call'),
  writtenTools: z
    .array(z.string().min(1).max(64))
    .max(32)
    .exactOptional()
    .describe('tools that agents above it have written, and that it may call; none by default'),
  once: z.boolean().exactOptional().describe('it ends with its first turn, with the result of that turn'),
  delegation: delegation
    .exactOptional()
    .describe('how many agents may work below it; 2 levels and 20 live children by default'),
  softLimits: amounts
    .exactOptional()
    .describe(
      'amounts of tokensIn, tokensOut and cost: an alert at 80 %, and when one is reached, the agent pauses',
    ),
  mcpServers: mcpServers
    .exactOptional()
    .describe('MCP servers whose tools it may call, by the name in mcp__<name>__<tool>'),
  program: outsideProgram
    .exactOptional()
    .describe('of an outside agent with a model acp/<name>: its program, if it is none that Reeve knows'),
  preset: z
    .enum(PRESETS)
    .exactOptional()
    .describe('rules for what it does, besides those of its asker: observe, ask, edit or full'),
  output: jsonObject.exactOptional().describe('the JSON schema that the result of its goal must fit'),
  hooks: hooks.exactOptional(),
  memory: memory.exactOptional(),
}

const part = z.looseObject({ type: z.string() }).catchall(json) satisfies z.ZodType<Part>
export const parts = z.array(part)
export const turnReason = z.union([
  z.enum(TURN_REASONS),
  z.templateLiteral([z.literal('limit:'), z.string()]),
])
export const turnCause = z.enum(TURN_CAUSES)
export const noticeCause = z.enum(NOTICE_CAUSES)
export const inputMode = z.enum(INPUT_MODES)
export const callPurpose = z.enum(CALL_PURPOSES)
export const until = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('command'), run: z.string().describe('a shell line that must succeed') }),
  z.strictObject({
    type: z.literal('model'),
    check: z.string().describe('a question that a model must answer with yes'),
  }),
]) satisfies z.ZodType<Until>
export const callPlace = z.strictObject({ turn: count, call: count })
export const toolCallRef = z.strictObject({ turn: count, call: count, index: count })
export const openToolCall = { index: count, callId: z.string(), tool: z.string() }

const notices = z.strictObject({
  kept: z.array(z.strictObject({ id: z.string(), cause: noticeCause, seq: count })),
  more: count,
}) satisfies z.ZodType<NoticeBuffer>

const totals = z.strictObject({ inputTokens: count, outputTokens: count, cost: z.number(), unpriced: count })

/** The numbers of turns, in ranges of the first and the last. */
export const turnRanges = z.array(z.tuple([count, count]))

export const branchState = {
  segment: z.strictObject({
    number: count,
    last: count.exactOptional().describe('the largest number that was used, if it is on another branch'),
    from: place,
    keeps: callPlace.exactOptional(),
  }),
  outputs: z.array(z.strictObject({ pid: z.string(), turn: count, call: count })).exactOptional(),
}

const openTurn = z.strictObject({
  number: count,
  cause: turnCause,
  asker: actor,
  input: z.string().nullable(),
  beganAt: time,
  from: count,
  follows: place,
  calls: count,
  call: z.strictObject({ number: count, purpose: callPurpose, from: count.exactOptional() }).nullable(),
  tools: z.array(z.strictObject({ call: count, ...openToolCall })),
  hasOutput: z.boolean(),
  expects: z.enum(['model', 'end']),
  output: z.strictObject({ repairs: count }).nullable(),
  crashes: count,
  cuts: count.exactOptional(),
  taken: z.strictObject({ inputs: z.array(z.string()), notices }),
  interrupted: z.array(toolCallRef),
  joinedBy: z.array(actor).exactOptional(),
  undoSince: place.exactOptional(),
  used: totals.exactOptional(),
})

export const earlierLogs = z.array(z.strictObject({ pid: z.string(), through: count }))

export const forkMode = z.enum(FORK_MODES)

/** Where the session of a fork branches. */
export const forkedFrom = z.strictObject({
  pid: z.string(),
  turn: count.describe('the last turn that both sessions have'),
  mode: forkMode,
})

const goal = z
  .strictObject({
    until,
    input: z.string(),
    asker: actor,
    maxTurns: count,
    done: count,
    checks: z.array(z.string()),
  })
  .nullable()

export const unanswered = z
  .strictObject({
    number: count,
    cause: turnCause,
    asker: actor,
    input: z.string().nullable(),
    hasSchema: z.boolean(),
    goal,
  })
  .exactOptional()
  .describe('the last turn, if a limit ended it before its first model call')

/** The state of an agent that Reeve drives. */
export const agentState = z.strictObject({
  turns: count,
  turn: openTurn.nullable(),
  inputs: z.array(
    z.strictObject({
      id: z.string(),
      mode: z.enum(['queue', 'steer']),
      seq: count,
      asker: actor,
      hasSchema: z.boolean(),
    }),
  ),
  notices,
  head: place,
  ...branchState,
  totals,
  stall: z.array(z.strictObject({ call: z.string(), result: z.string(), isError: z.boolean() })),
  goal,
  unanswered,
  reached: z.array(z.enum(COUNTED)),
  groups: z
    .array(
      z.strictObject({
        id: z.string(),
        size: count,
        seats: z.array(z.strictObject({ pid: z.string(), seq: count.nullable() })),
      }),
    )
    .exactOptional(),
  earlier: earlierLogs.exactOptional(),
  forkedFrom: forkedFrom.exactOptional().describe('of a fork: where its session branches'),
  branch: z
    .strictObject({ at: count, turns: turnRanges, through: count })
    .exactOptional()
    .describe('the turns of the current branch, if the session was rewound'),
  program: programState.exactOptional(),
  memory: agentMemory.exactOptional().describe('how far its long-term memory has come'),
  alerts: z
    .array(z.strictObject({ seq: count, at: time, alert: z.enum(ALERTS), message: z.string() }))
    .exactOptional()
    .describe('the last alerts, the oldest first'),
}) satisfies z.ZodType<AgentState>
