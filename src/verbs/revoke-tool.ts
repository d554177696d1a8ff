import * as z from 'zod'
import { processCodes } from './shapes/codes.ts'
import { processRef } from './shapes/scalars.ts'
import { toolVersion } from './shapes/script.ts'
import { verb } from './verb.ts'

export const revokeTool = verb({
  summary: 'Takes a written tool from its agent and from all agents that it was handed to.',
  description:
    'The next call of it is refused. A tool that is revoked already stays as it is. The agent may propose it again, and a person is asked again.',
  route: 'POST /agents/{pid}/tools/{name}/revoke',
  needs: 'operate',
  repeat: 'always',
  input: () =>
    z.strictObject({
      pid: processRef.describe('the agent that it was registered for'),
      name: z.string().min(1).max(64).describe('the tool'),
      reason: z.string().min(1).max(1_000).exactOptional().describe('for the audit and the list'),
    }),
  output: () => z.strictObject({ name: z.string(), ...toolVersion }),
  codes: [...processCodes, 'invalid_request', 'not_found'],
})
