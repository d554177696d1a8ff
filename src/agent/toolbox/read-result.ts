import * as z from 'zod'
import { objectOf } from '../../core/json/json.ts'
import type { Pid } from '../../core/process/pid.ts'
import { isProcessTool } from '../../core/tool/built-in-name.ts'
import { type AgentTool, agentTool, ToolError, textOutput } from '../tools/agent-tool.ts'
import { partsIn, textOf } from './call-result.ts'
import { wholeTextOf } from './stored-output.ts'
import type { ToolboxParts } from './toolbox.ts'

const PAGE_CHARS = 12_000

/** Pages through a long result of the agent's own calls. It was masked when it was stored, and needs no further capability. */
export function readResultTool({
  kernel,
  mask,
  agent,
}: Pick<ToolboxParts, 'kernel' | 'mask'> & { readonly agent: Pid }): AgentTool {
  return agentTool({
    name: 'read_result',
    description: 'Reads a part of a long result of an earlier call, of which you have seen the end.',
    input: z.strictObject({
      call: z.string().describe('the pid that the result names'),
      offset: z.number().int().min(0).optional().describe('the first character, from 0'),
    }),
    recovery: 'rerunnable',
    essential: true,
    isBounded: true,
    async run({ call, offset = 0 }) {
      const text = await wholeText(call)
      if (text === null)
        throw new ToolError(
          'not_found',
          `You have no call ${call} with a result. Results from before the last summary of the session are not kept here: call the tool again.`,
        )
      const page = text.slice(offset, offset + PAGE_CHARS).toWellFormed()
      const end = offset + page.length
      const rest = end < text.length ? `; go on with offset ${end}` : ''
      return textOutput(`${page}\n(characters ${offset} to ${end} of ${text.length}${rest})`)
    },
  })

  async function wholeText(pid: string): Promise<string | null> {
    const { store } = kernel().edges
    const row = await store.ask({ ask: 'process', pid })
    if (row === null || row.record.parent !== agent || row.record.kind !== 'tool') return null
    const { outcome, spec } = row.record
    if (outcome?.status !== 'completed') return null
    if (!isProcessTool(spec['tool'])) return mask(textOf(outcome.result))
    const parts = partsIn(objectOf(outcome.result)['parts'])
    const hash = wholeTextOf(parts)
    if (hash === null) return parts.map((part) => String(part['text'] ?? '')).join('\n')
    const bytes = await store.blobs.get(hash)
    return bytes === null ? null : Buffer.from(bytes).toString('utf8')
  }
}
