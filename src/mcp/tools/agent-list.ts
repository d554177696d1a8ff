import * as z from 'zod'
import { cursor } from '../../verbs/shapes/scalars.ts'
import { agentLine } from '../agent-lines.ts'
import { tool } from '../tool.ts'

/** About one page. */
const LIMIT = 25

export const agentList = tool({
  name: 'agent_list',
  title: 'List agents',
  description: [
    'Lists your agents that live, newest first: whether each is idle, running or paused, its turns, model, cost and folder.',
    'Use it when you come back, or have lost a pid.',
  ].join(' '),
  searchHint: 'list agents, running agents, sub-agents, find agent',
  input: z.strictObject({
    ended: z.boolean().default(false).describe('also those that have ended'),
    after: cursor.exactOptional().describe('from an earlier answer'),
  }),
  effect: 'read',
  run({ ended, after }, { perform }) {
    return perform(async (acting) => {
      const { agents, next } = await acting.agents({
        ended,
        limit: LIMIT,
        ...(after === undefined ? {} : { after }),
      })
      const lines = agents.length === 0 ? ['No agents.'] : agents.map(agentLine)
      const text = [...lines, ...(next === null ? [] : [`Older ones: after: "${next}"`])].join('\n')
      return { structured: { agents, next }, text }
    })
  },
})
