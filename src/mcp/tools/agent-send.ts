import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { runAgent } from '../../verbs/run-agent.ts'
import { tool } from '../tool.ts'

const { pid } = runAgent.input.shape

export const agentSend = tool({
  name: 'agent_send',
  title: 'Send an agent an input',
  description: [
    'Gives an agent another input. An idle agent starts a turn with it. A running one takes it after its turn (queue), or',
    'before its next model call (steer: to correct it on the way). The input is stored: it is not lost if anything stops.',
  ].join(' '),
  searchHint: 'send to agent, follow-up, steer agent, next instruction, answer agent',
  input: z.strictObject({
    pid: pid.describe('pid or name'),
    text: z.string().min(1).max(100_000).describe('what to tell it'),
    mode: z.enum(['queue', 'steer']).default('queue').describe('steer: into the running turn'),
  }),
  effect: 'change',
  run({ pid: asked, text, mode }, { perform }) {
    const id = `mcp-${randomUUID()}`
    return perform(async (acting) => {
      const answer = await acting.runAgent({ pid: asked, text, mode, id })
      const said =
        answer.type === 'started'
          ? `Turn ${answer.turn} of ${asked} begins with it.`
          : `${asked} takes it ${answer.mode === 'steer' ? 'before its next model call' : 'after its turn'}; ${answer.place} inputs wait.`
      return { structured: { ...answer }, text: `${said} agent_wait waits for the result.` }
    })
  },
})
