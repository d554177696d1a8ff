import * as z from 'zod'
import { heldPaths, phase, used } from './shapes/agent-view.ts'
import { processCodes } from './shapes/codes.ts'
import { status } from './shapes/record.ts'
import { count, cursor, pageSize, pid, processRef, sessionId, time } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const agents = verb({
  summary: 'Lists the agents that Reeve drives; without `ended`, those that live.',
  description:
    'The newest first. A page may have fewer agents than `limit`, because agents that other programs drive are left out: `next` says whether more follow.',
  route: 'GET /agents',
  needs: 'read',
  input: () =>
    z.strictObject({
      session: sessionId.exactOptional().describe('only agents of this session and of the sessions below it'),
      parent: processRef.exactOptional().describe('only agents that work for this one'),
      ended: z.boolean().default(false).describe('also agents that have ended'),
      after: cursor.exactOptional(),
      limit: pageSize,
    }),
  output: () =>
    z.strictObject({
      agents: z.array(
        z.strictObject({
          pid,
          name: z.string().nullable().describe('the name that callers may use instead of the pid'),
          agent: z.string().describe('the name of the agent in its spec'),
          label: z.string().describe('a name for people'),
          session: z.string().nullable().describe('the session that owns it'),
          parent: z.string().nullable().describe('the pid of its parent'),
          phase,
          waitsFor: z
            .enum(['approval', 'reply'])
            .nullable()
            .describe('what it, or something that it started, waits for from a person; null if for nothing'),
          status: status.describe('as in its record'),
          model: z.string(),
          turns: count.describe('how many turns have begun'),
          queued: count.describe('how many inputs wait'),
          ...used,
          workspace: z.string().nullable().describe('its working folder'),
          paths: heldPaths,
          createdAt: time,
          lastActivityAt: time.describe('the time of its last event'),
        }),
      ),
      next: z.string().nullable().describe('the cursor of the next page; null if there is none'),
    }),
  codes: [...processCodes],
})
