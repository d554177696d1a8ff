import * as z from 'zod'
import {
  changePlan,
  MAX_PLAN_ITEM_CHARS,
  MAX_PLAN_ITEMS,
  PLAN_STATUSES,
  type PlanList,
  planText,
} from '../../core/plan/plan-list.ts'
import { type AgentTool, agentTool, ToolError, textOutput } from './agent-tool.ts'

/** Where the plan of an agent is kept: by its executor, in the agent's log. */
export interface PlanParts {
  plan(): PlanList | Promise<PlanList>
  /** Keeps the plan. It is durable when this resolves. */
  keep(plan: PlanList): Promise<void>
}

const text = z.string().min(1).max(MAX_PLAN_ITEM_CHARS)
const status = z.enum(PLAN_STATUSES)

const input = z.strictObject({
  changes: z
    .array(
      z.discriminatedUnion('type', [
        z.strictObject({
          type: z.literal('replace'),
          items: z.array(z.strictObject({ text, status: status.default('pending') })).max(MAX_PLAN_ITEMS),
        }),
        z.strictObject({
          type: z.literal('add'),
          text,
          after: z
            .number()
            .int()
            .min(0)
            .optional()
            .describe('the number of the item before it; the last if left out'),
        }),
        z.strictObject({
          type: z.literal('set'),
          item: z.number().int().min(1).describe('its number, from 1'),
          status: status.exactOptional(),
          text: text.exactOptional(),
        }),
      ]),
    )
    .max(MAX_PLAN_ITEMS)
    .describe('applied in order; empty to read the plan'),
})

export function planTool({ plan, keep }: PlanParts): AgentTool {
  return agentTool({
    name: 'plan',
    description:
      'Reads and changes your plan: a list of items that are pending, in_progress, done or dropped.',
    input,
    // The same changes twice would add an item twice.
    recovery: 'bound',
    async run({ changes }) {
      const answer = changePlan(await plan(), changes)
      if (answer.type === 'refused') throw new ToolError('invalid_input', answer.reason)
      if (changes.length > 0) await keep(answer.plan)
      return { ...textOutput(planText(answer.plan)), plan: answer.plan }
    },
  })
}
