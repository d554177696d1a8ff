import * as z from 'zod'
import { waitingInput } from './shapes/agent-view.ts'
import { processCodes } from './shapes/codes.ts'
import { processRef } from './shapes/scalars.ts'
import { verb } from './verb.ts'

export const agentInputs = verb({
  summary: 'Lists the inputs of an agent that wait for a turn, in their order, with their parts.',
  route: 'GET /agents/{pid}/inputs',
  needs: 'read',
  input: () => z.strictObject({ pid: processRef }),
  output: () => z.strictObject({ inputs: z.array(waitingInput).describe('at most 64') }),
  codes: [...processCodes, 'invalid_request'],
})
