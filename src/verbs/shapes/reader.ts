import * as z from 'zod'
import { time } from './scalars.ts'

/**
 * One of several readers of a session, such as a connection of an MCP client. Each has its own position in output and in the
 * inbox. A notice that one reader has consumed is still delivered to readers that were connected when it was sent, and not to later
 * ones.
 */
export const reader = z.strictObject({
  id: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,64}$/, 'must be letters, digits and dashes, at most 64')
    .describe('an id for the reader'),
  since: time.describe('when it connected, by the clock of the daemon: `now` of whoami'),
})
