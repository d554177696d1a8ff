import * as z from 'zod'
import { agentLog } from '../../verbs/agent-log.ts'
import { itemLine } from '../agent-lines.ts'
import { cut, PAGE_CHARS } from '../page.ts'
import { tool } from '../tool.ts'

const { pid, before } = agentLog.input.shape
/** The rest is for the lines around the items. */
const ITEMS_CHARS = PAGE_CHARS - 200

export const agentRead = tool({
  name: 'agent_read',
  title: 'Read the session of an agent',
  description: [
    'Shows what an agent was told, said and did: the newest items of its session log, in order. For older ones give the',
    'before of an answer. For the result of a turn alone, agent_wait is shorter.',
  ].join(' '),
  searchHint: 'read agent, agent output, what did the agent do, session log, transcript',
  input: z.strictObject({
    pid: pid.describe('pid or name'),
    before: before.describe('from an earlier answer: older items'),
  }),
  effect: 'read',
  run({ pid: asked, before: from }, { perform }) {
    return perform(async (acting) => {
      const page = await acting.agentLog({
        pid: asked,
        last: 50,
        ...(from === undefined ? {} : { before: from }),
      })
      const shown: { readonly seq: number; readonly line: string }[] = []
      let room = ITEMS_CHARS
      for (const item of page.items.toReversed()) {
        const line = itemLine(item)
        if (line === '') continue
        if (line.length + 1 > room && shown.length > 0) break
        shown.unshift({ seq: item.seq, line: cut(line, room) })
        room -= line.length + 1
      }
      const first = shown[0]?.seq ?? null
      const isAll =
        page.before === null && shown.length === page.items.filter((item) => itemLine(item) !== '').length
      const older = isAll || first === null ? null : first
      const text = [
        `${page.record.pid} is ${page.record.outcome === null ? page.phase : 'ended'}.`,
        ...shown.map(({ line }) => line),
        ...(older === null ? [] : [`Older items: before: ${older}`]),
      ].join('\n')
      return { structured: { pid: page.record.pid, phase: page.phase, before: older }, text }
    })
  },
})
