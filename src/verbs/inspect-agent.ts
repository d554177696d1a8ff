import * as z from 'zod'
import { forkedFrom, openToolCall, turnCause } from './shapes/agent.ts'
import { place } from './shapes/agent-rewind.ts'
import { configuredValue, heldPaths, phase, turnResult, used, waitingInput } from './shapes/agent-view.ts'
import { budgetShape } from './shapes/allowance.ts'
import { approvalShape } from './shapes/approval.ts'
import { processCodes } from './shapes/codes.ts'
import { record, status } from './shapes/record.ts'
import { count, pid, processRef, time } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const inspectAgent = verb({
  summary:
    'Shows an agent as it is now: its state, model, cost, tools, rules and configuration, and what lives below it.',
  description:
    'The live children, the live commands, the pending approvals and the waiting inputs are whole sets. They are those of the agent itself: what a child agent starts belongs to the child.',
  route: 'GET /agents/{pid}',
  needs: 'read',
  input: () => z.strictObject({ pid: processRef }),
  output: () =>
    z.strictObject({
      version: z.string().describe('the version of Reeve'),
      pid,
      name: z.string().nullable().describe('the name that callers may use instead of the pid'),
      agent: z.string().describe('the name of the agent in its spec'),
      label: z.string().describe('a name for people'),
      session: z.string().nullable().describe('the session that owns it'),
      parent: z.string().nullable().describe('the pid of its parent'),
      workspace: z.string().nullable().describe('the folder that it was started in'),
      cwd: z.string().nullable().describe('its working folder now'),
      paths: heldPaths,
      forkedFrom: forkedFrom.nullable().describe('where its session branches from that of another agent'),
      image: z
        .strictObject({ name: z.string(), hash: z.string() })
        .describe('the image that it is made from, and the hash of the version'),
      provider: z.string().nullable(),
      model: z.string(),
      contextWindow: count.nullable().describe('of the model, in tokens; null if it is not known'),
      contextTokens: count
        .nullable()
        .describe('how much of it the last model call used; null before the first one'),
      ...used,
      budget: budgetShape
        .nullable()
        .describe('what it may use and has used; null without a limit and a charge'),
      capabilities: z
        .strictObject({
          closed: z.boolean().describe('what no rule allows is denied'),
          allow: count.describe('rules that allow'),
          ask: count.describe('rules that ask a person first'),
          deny: count.describe('rules that deny'),
          rules: z
            .array(z.strictObject({ subject: z.string(), text: z.string(), inForce: z.boolean() }))
            .exactOptional()
            .describe('for administrators: the rules'),
        })
        .describe('the rules that bind it'),
      tools: z
        .array(z.strictObject({ name: z.string(), description: z.string() }))
        .nullable()
        .describe('the tools that its prompts declare; null before its first model call'),
      configuration: z.array(configuredValue).describe('the values that count, and where each comes from'),
      status: status.describe('as in its record'),
      phase,
      position: z
        .strictObject({
          revision: count.describe('`seq` of its last event'),
          head: place.describe('`seq` of the last entry of the current branch'),
          segment: count.describe('the number of the segment'),
        })
        .describe('where its session log is'),
      turns: count.describe('how many turns have begun'),
      turn: z
        .strictObject({
          number: count,
          cause: turnCause,
          beganAt: time,
          calls: count.describe('how many model calls have begun'),
          tools: z
            .array(z.strictObject({ call: count, ...openToolCall }))
            .describe('tool calls without a result'),
        })
        .nullable()
        .describe('the open turn; null if there is none'),
      lastTurn: turnResult.nullable().describe('the last turn that ended; null if none has'),
      children: z
        .array(record)
        .describe('live processes that it started, other than commands and tool calls'),
      commands: z.array(record).describe('live commands that it started'),
      approvals: z
        .array(approvalShape)
        .describe('pending requests to people, of the agent and of what it started'),
      inputs: z.array(waitingInput).describe('inputs that wait, in their order'),
      isWhole: z.boolean().describe('false: more processes live below it than one answer has'),
    }),
  codes: [...processCodes, 'invalid_request'],
})
