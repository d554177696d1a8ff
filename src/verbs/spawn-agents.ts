import * as z from 'zod'
import { processRef } from './shapes/scalars.ts'
import { spawnKey } from './spawn.ts'
import { childFields, spawnAgent } from './spawn-agent.ts'
import { verb } from './verb.ts'

export const spawnAgents = verb({
  summary: 'Starts several agents below another one, which gets one report when each of them has reported.',
  description:
    'In one transaction: all agents, or none. Their parent gets one report with the first result of each, in the order of the request: the result of a turn that it asked for, or the end of the agent. Later turns are reported one by one. What the parent has left is divided equally. Agents for which there is no slot yet begin when others are done.',
  route: 'POST /spawn-agents',
  needs: 'operate',
  repeat: { ...spawnKey, each: 'agents' },
  input: () =>
    z.strictObject({
      parent: processRef.describe('the agent that they work for: a pid or a name'),
      agents: z.array(z.strictObject(childFields())).min(1).max(100).describe('the agents, in their order'),
    }),
  output: () =>
    z.strictObject({ agents: z.array(spawnAgent.output).describe('in the order of the request') }),
  codes: spawnAgent.codes,
})
