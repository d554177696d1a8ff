import * as z from 'zod'
import { count } from './shapes/scalars.ts'
import { verb } from './verb.ts'

/** By name: what holders that are alive have announced. */
export const workflows = verb({
  summary: 'Which durable functions are served now, and by how many programs.',
  route: 'GET /workflows',
  needs: 'read',
  input: z.strictObject({}),
  output: z.strictObject({ workflows: z.array(z.strictObject({ name: z.string(), workers: count })) }),
  codes: ['denied'],
})
