import * as z from 'zod'
import { MAX_CALLS, MAX_SOURCE_CHARS } from '../../core/script/limits.ts'
import { SCRIPT } from '../../core/tool/built-in-name.ts'
import { json } from '../../verbs/shapes/json.ts'
import { type AgentTool, agentTool, ToolError } from '../tools/agent-tool.ts'

const input = z.strictObject({
  source: z.string().min(1).max(MAX_SOURCE_CHARS),
  args: json.optional().describe('its first argument, {} by default'),
})

/** Runs TypeScript of the agent: many calls with one turn of the model. */
export function scriptTool(): AgentTool {
  const tool = agentTool({
    name: SCRIPT,
    description: `Runs TypeScript: \`export default async (args, reeve) => …\`. \`await reeve.<tool>(input)\` calls any of your other tools, as you; calls in Promise.all run at once, at most ${MAX_CALLS} in all. There are no files, network, modules or timers inside. What it returns (JSON) and prints is the result.`,
    input,
    // Its calls are processes of their own: a later attempt finds them.
    recovery: 'rerunnable',
    spare: true,
    maxMs: null,
    run: notHere,
  })
  return {
    ...tool,
    script: (given) => {
      const { source, args = {} } = input.parse(given)
      return { source, args }
    },
  }
}

/** Calls of such a tool run as scripts. */
export function notHere(): never {
  throw new ToolError('not_available', 'This program runs no scripts.')
}
