import * as z from 'zod'
import { time } from './scalars.ts'

/**
 * One of several readers of a session, such as a connection of an MCP client. Each has its own position in output, its own
 * in the inbox, and is told for itself what has ended. A new reader begins where the session is, or before whatever was
 * started and told since it is there.
 */
export const reader = z.strictObject({
  id: z.string().regex(/^[A-Za-z0-9-]{1,64}$/, 'must be letters, digits and dashes, at most 64'),
  since: time.describe('when it came'),
})
