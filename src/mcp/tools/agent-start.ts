import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { folder, name } from '../../verbs/shapes/scalars.ts'
import { tool } from '../tool.ts'

export const agentStart = tool({
  name: 'agent_start',
  title: 'Start an agent',
  description: [
    'Starts an agent of Reeve that works on a goal by itself, with tools for files and commands, and answers at once with',
    'its pid. It works on when you leave. Use agent_wait for its result, agent_send to add to the goal, agent_read to see',
    'what it did, process_kill to end it.',
  ].join(' '),
  searchHint: 'start agent, delegate task, sub-agent, background agent, coding agent',
  input: z.strictObject({
    goal: z.string().min(1).max(100_000).describe('what it is to do'),
    model: z
      .string()
      .min(1)
      .max(200)
      .exactOptional()
      .describe('provider/model; the default of the image or of Reeve'),
    image: z
      .string()
      .min(1)
      .max(200)
      .exactOptional()
      .describe('the image it is made from, like coder or reviewer'),
    cwd: folder.exactOptional().describe('absolute folder; your workspace by default'),
    name: name.exactOptional().describe('short name to use like a pid'),
  }),
  effect: 'change',
  startsDaemon: true,
  run({ goal, model, image, cwd, name: called }, { folder: own, perform }) {
    const key = `mcp-${randomUUID()}`
    const folderOf = cwd ?? own
    return perform(async (acting, session) => {
      const { record } = await acting.spawn({
        kind: 'agent',
        spec: {
          agent: image ?? 'base',
          ...(model === undefined ? {} : { model }),
          ...imageOf(image, model),
          goal,
        },
        owner: { session },
        idempotencyKey: key,
        ...(called === undefined ? {} : { name: called }),
        ...(folderOf === null ? {} : { cwd: folderOf }),
      })
      const { pid, status, wait } = record
      const asked =
        wait?.on === 'approval' ? ' A person has been asked first; the inbox tells you of the answer.' : ''
      return {
        structured: { pid, status },
        text: `${pid} has begun.${asked} agent_wait waits for its result.`,
      }
    })
  },
})

/** Without an image and without a model the request would be for an agent that other programs execute. */
function imageOf(image: string | undefined, model: string | undefined): { readonly image?: string } {
  if (image !== undefined) return { image }
  return model === undefined ? { image: 'base' } : {}
}
