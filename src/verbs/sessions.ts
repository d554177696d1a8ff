import * as z from 'zod'
import { pageSize, sessionId } from './shapes/scalars.ts'
import { session } from './shapes/session.ts'
import { verb } from './verb.ts'

export const sessions = verb({
  summary: 'Lists sessions, by id.',
  route: 'GET /sessions',
  needs: 'read',
  input: () =>
    z.strictObject({
      after: sessionId.exactOptional().describe('the id to continue after'),
      parentSession: sessionId.exactOptional().describe('only the children of this session'),
      limit: pageSize,
    }),
  output: () => z.strictObject({ sessions: z.array(session) }),
  codes: ['denied'],
})
