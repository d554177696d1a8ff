import * as z from 'zod'
import { PRESETS } from '../../core/capability/presets.ts'
import { IMAGE_NAME, type Image } from '../../core/image/image.ts'
import { EFFORTS } from '../../core/model/prompt.ts'
import { modelId } from './agent.ts'
import { amounts } from './allowance.ts'
import { hooks } from './hook.ts'
import { jsonObject } from './json.ts'
import { mcpServers } from './mcp-servers.ts'
import { memory } from './memory.ts'

/** An image: everything that an agent is made of, besides its goal. Unknown fields are errors. */
export const imageShape = z.strictObject({
  name: z
    .string()
    .regex(IMAGE_NAME, 'must be letters, digits, ., - and _, at most 64')
    .describe('the name by which agents are made from it'),
  description: z.string().max(2_000).exactOptional().describe('what it is for, in a sentence'),
  system: z.string().max(100_000).exactOptional().describe('the system prompt; the built-in one if left out'),
  models: z
    .array(modelId)
    .min(1)
    .max(9)
    .exactOptional()
    .describe('the model that is called, and those that are called instead when its provider fails'),
  effort: z.enum(EFFORTS).exactOptional().describe('how much the model thinks'),
  maxOutputTokens: z
    .number()
    .int()
    .min(1)
    .max(10_000_000)
    .exactOptional()
    .describe('the longest answer of one model call, in tokens'),
  tools: z
    .array(z.string().min(1).max(200))
    .max(1_000)
    .exactOptional()
    .describe('the tools that it may call; all if left out'),
  mcpServers: mcpServers.exactOptional().describe('MCP servers whose tools it may call, by name'),
  preset: z
    .enum(PRESETS)
    .exactOptional()
    .describe('rules for what it does, besides those of its asker; they only narrow'),
  budget: amounts
    .exactOptional()
    .describe('what it may use, taken from the budget of its asker: tokens, cost, tool calls'),
  softLimits: amounts.exactOptional().describe('amounts at which it pauses and asks'),
  output: jsonObject.exactOptional().describe('the JSON schema that the result of its goal must fit'),
  hooks: hooks.exactOptional(),
  memory: memory.exactOptional(),
  needs: z
    .array(z.string().min(1).max(1_000))
    .max(64)
    .exactOptional()
    .describe(
      'what it will do, as `write fs:docs`, `net:example.com` or `shell:git push`: what its asker may not do is asked for before it begins',
    ),
}) satisfies z.ZodType<Image>
