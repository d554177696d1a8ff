import * as z from 'zod'
import { HOOK_EVENTS, type Hook, MAX_HOOK_MS, MAX_HOOKS } from '../../core/agent/hooks.ts'

const hook = z.strictObject({
  event: z.enum(HOOK_EVENTS).describe('when it runs'),
  tools: z
    .array(z.string().min(1).max(200))
    .max(100)
    .exactOptional()
    .describe('of before_tool and after_tool: the tools that it is for; all if left out'),
  run: z
    .string()
    .min(1)
    .max(10_000)
    .describe('a line for the shell; it reads the event as JSON from its standard input'),
  timeoutMs: z
    .number()
    .int()
    .min(1)
    .max(MAX_HOOK_MS)
    .exactOptional()
    .describe('how long it may run; 60000 by default'),
}) satisfies z.ZodType<Hook>

export const hooks = z
  .array(hook)
  .max(MAX_HOOKS)
  .describe('commands that run at events of the agent, under its rules')

/** The form of `.reeve/hooks.json`. */
export const hooksFileSchema = z.strictObject({ $schema: z.string().exactOptional(), hooks })
