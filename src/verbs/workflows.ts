import * as z from 'zod'
import { count } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const workflows = verb({
  summary: 'Lists the workflows that are served now, and how many programs serve each.',
  description: 'By name, as announced by live holders.',
  route: 'GET /workflows',
  needs: 'read',
  input: () => z.strictObject({}),
  output: () => z.strictObject({ workflows: z.array(z.strictObject({ name: z.string(), workers: count })) }),
  codes: ['denied'],
})
