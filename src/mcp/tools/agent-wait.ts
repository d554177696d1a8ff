import * as z from 'zod'
import type { OutputOf } from '../../verbs/reeve.ts'
import { duration } from '../../verbs/shapes/scalars.ts'
import { waitAgent } from '../../verbs/wait-agent.ts'
import { cut, PAGE_CHARS } from '../page.ts'
import { tool } from '../tool.ts'

const { pid, turn } = waitAgent.input.shape
const DEFAULT_MS = 30_000
const RESULT_CHARS = PAGE_CHARS - 300

export const agentWait = tool({
  name: 'agent_wait',
  title: 'Wait for an agent',
  description: [
    'Waits until an agent is idle, paused or ended, or until one of its turns has ended, and answers with the result of its last',
    'turn. "Not yet" is no error: the agent works on, call again.',
  ].join(' '),
  searchHint: 'wait for agent, agent result, agent finished, await sub-agent',
  input: z.strictObject({
    pid: pid.describe('pid or name'),
    turn: turn.describe('only until this turn has ended'),
    timeoutMs: duration.max(3_600_000).exactOptional().describe('30000 by default, up to an hour'),
  }),
  effect: 'read',
  run({ pid: asked, turn: number, timeoutMs = DEFAULT_MS }, { perform, signal, waiting, msLeft }) {
    return perform(async (acting) => {
      const totalMs = Math.min(timeoutMs, msLeft())
      const input = { pid: asked, timeoutMs: totalMs, ...(number === undefined ? {} : { turn: number }) }
      const waited = await waiting(
        { totalMs, message: `waiting for ${asked}` },
        acting.waitAgent(input, { signal }),
      )
      signal.throwIfAborted()
      return { structured: { type: waited.type, turn: resultIn(waited) }, text: textOf(waited, asked) }
    })
  },
})

type Waited = OutputOf<'waitAgent'>

function resultIn(waited: Waited) {
  return 'turn' in waited ? waited.turn : null
}

function textOf(waited: Waited, asked: string): string {
  if (waited.type === 'interrupted' || waited.type === 'timed_out')
    return `Not yet: ${asked} works on. Call agent_wait again.`
  const now = waited.type === 'turn_ended' ? '' : `${waited.record.pid} is ${waited.type}. `
  const { turn } = waited
  if (turn === null) return `${now}No turn has ended.`
  const { result, message } = turn
  const said = typeof result === 'string' ? result : result === null ? '' : JSON.stringify(result)
  const head = `${now}Turn ${turn.turn} ended: ${turn.reason}${message === undefined ? '' : ` (${message})`}.`
  return said === '' ? head : `${head}\n${cut(said, RESULT_CHARS)}`
}
