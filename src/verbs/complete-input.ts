import * as z from 'zod'
import { processCodes } from './shapes/codes.ts'
import { count, processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** More are not read by a person. */
const MAX_COMPLETIONS = 200

export const completeInput = verb({
  summary: 'Completes the last word of an input that a person types: a slash command, or a file after @.',
  description:
    'A text that begins with `/` is completed with the slash commands of the agent, and a last word that begins with `@` with the files of its workspace that it may read. Anything else has no completions. In every state of the agent; an agent that has ended has none.',
  route: 'POST /agents/{pid}/complete',
  needs: 'operate',
  repeat: 'always',
  input: () =>
    z.strictObject({
      pid: processRef,
      text: z.string().max(10_000).describe('the text up to the cursor'),
      limit: z.number().int().min(1).max(MAX_COMPLETIONS).default(50),
    }),
  output: () =>
    z.strictObject({
      from: count.describe('where the completed word begins in the text'),
      completions: z.array(
        z.strictObject({
          type: z.enum(['command', 'file', 'folder']),
          text: z.string().describe('replaces the text from `from` on'),
          source: z
            .string()
            .describe(
              'the origin of a command: `workspace`, `home`, `skill` or a server as `mcp:notes`; empty for files',
            ),
          about: z.string().describe('for people; empty if there is nothing to say'),
        }),
      ),
      more: z.boolean().describe('there are more than these'),
    }),
  codes: [...processCodes, 'invalid_request'],
})
