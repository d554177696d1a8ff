import * as z from 'zod'
import { NEXT_TURNS } from '../../core/agent/goal.ts'
import { actor } from './actor.ts'
import { parts, turnReason } from './agent.ts'
import { json } from './json.ts'
import { count, time } from './scalars.ts'

export const phase = z
  .enum(['idle', 'running', 'paused', 'ended'])
  .describe('`idle`: it waits for input; `running`: it is in a turn')

/** How a turn ended. */
export const turnResult = z.strictObject({
  turn: count.describe('the number of the turn'),
  reason: turnReason.describe('how it ended: `finished`, `cancelled`, `rolled_back`, `limit:<name>` …'),
  result: json.describe(
    'of a finished turn: its result, the last text of the model or a value that fits the schema',
  ),
  message: z.string().exactOptional().describe('what went wrong, in words'),
  calls: count.describe('how many model calls it took'),
  check: z
    .strictObject({
      holds: z.boolean(),
      found: z.string(),
      failed: z
        .literal(true)
        .exactOptional()
        .describe('it could not be made, and says nothing about the goal'),
    })
    .exactOptional()
    .describe('of a goal loop: what the check found'),
  goal: z.enum(NEXT_TURNS).exactOptional().describe('of a goal loop: whether it goes on'),
})

/** Tokens and cost. An unknown cost is unknown, not 0. */
export const used = {
  inputTokens: count.describe('tokens of the prompts'),
  outputTokens: count.describe('tokens of the answers'),
  cost: z
    .number()
    .nonnegative()
    .nullable()
    .describe('the cost of the calls whose price is known; null if it is known of none'),
  unpriced: count.describe('calls whose cost is unknown, and not part of `cost`'),
}

/** An input that no turn has taken yet. */
export const waitingInput = z.strictObject({
  input: z.string().describe('the id of the input'),
  mode: z.enum(['queue', 'steer']).describe('`steer`: it joins the running turn'),
  asker: actor.describe('the actor that gave it'),
  at: time.describe('when it was given, or last edited'),
  hasSchema: z.boolean().describe('the result of its turn must fit a schema'),
  parts,
})

const CONFIGURATION_SOURCES = ['spec', 'request', 'settings', 'default'] as const

/** One value of the configuration that counts for an agent. */
export const configuredValue = z.strictObject({
  name: z.string(),
  value: json,
  source: z
    .enum(CONFIGURATION_SOURCES)
    .describe('`spec`: given at its start; `request`: changed since then; `settings`: of the daemon'),
})

export const heldPaths = z
  .array(z.string())
  .nullable()
  .describe('the paths that it alone may write, and no others; null if it got none, or has ended')
