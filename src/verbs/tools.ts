import * as z from 'zod'
import { count } from './shapes/scalars.ts'
import { toolDeclaration } from './shapes/worker.ts'
import { verb } from './verb.ts'

export const tools = verb({
  summary: 'Lists the tools that are served now, and how many programs serve each.',
  description:
    'By name, as announced by live holders. A tool that was not made with `defineTool` has no `declaration`.',
  route: 'GET /tools',
  needs: 'read',
  input: () => z.strictObject({}),
  output: () =>
    z.strictObject({
      tools: z.array(
        z.strictObject({
          name: z.string(),
          workers: count,
          declaration: toolDeclaration.omit({ name: true }).nullable().describe('as its callers see it'),
        }),
      ),
    }),
  codes: ['denied'],
})
