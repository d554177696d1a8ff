import * as z from 'zod'
import { processCodes } from './shapes/codes.ts'
import { jsonObject } from './shapes/json.ts'
import { processRef } from './shapes/scalars.ts'
import { toolVersion } from './shapes/script.ts'
import { verb } from './verb.ts'

export const writtenTools = verb({
  summary: 'Lists the tools that an agent has written, and those that agents above it have handed to it.',
  description: 'Its own revoked ones are among them. A name that it does not have is `not_found`.',
  route: 'GET /agents/{pid}/tools',
  needs: 'read',
  input: () =>
    z.strictObject({
      pid: processRef,
      name: z.string().min(1).max(64).exactOptional().describe('only this one, with its source'),
    }),
  output: () =>
    z.strictObject({
      tools: z.array(
        z.strictObject({
          name: z.string(),
          description: z.string(),
          inputSchema: jsonObject,
          source: z.string().exactOptional().describe('with a name'),
          ...toolVersion,
        }),
      ),
    }),
  codes: [...processCodes, 'invalid_request', 'not_found'],
})
