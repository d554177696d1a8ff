import * as z from 'zod'
import { list } from '../../verbs/list.ts'
import { type amounts, budgetShape } from '../../verbs/shapes/allowance.ts'
import { status } from '../../verbs/shapes/record.ts'
import { cursor, name } from '../../verbs/shapes/scalars.ts'
import { fitting, PAGE_CHARS } from '../page.ts'
import { processView, viewOf } from '../process-view.ts'
import { tool } from '../tool.ts'
import { sentenceOn } from '../words.ts'

export const processList = tool({
  name: 'process_list',
  title: 'List processes',
  description: [
    'Lists your processes: by default those that have not ended, with status: any all of them.',
    'Use it when you come back to a project, or have lost a pid: what you started before is still there.',
  ].join(' '),
  input: z.strictObject({
    status: z
      .union([z.literal('any'), z.array(status).min(1)])
      .exactOptional()
      .describe('any, or some of the statuses; without it, what has not ended'),
    name: name.exactOptional(),
    after: cursor.exactOptional().describe('next of the answer before'),
    limit: z.number().int().min(1).max(200).default(25),
  }),
  output: z.strictObject({
    processes: z.array(
      processView.extend({
        shared: z.boolean().describe('seen through a grant: not yours'),
        ports: z.array(z.number()).exactOptional().describe('TCP ports that it listens on'),
        budget: budgetShape
          .exactOptional()
          .describe('what it was given, has used itself and with all below it, and has left'),
      }),
    ),
    next: list.output.shape.next.describe('after for the processes behind these; null if there are none'),
  }),
  does: 'look',
  async run({ status: wanted, name: called, after, limit }, { perform, session: { turn } }) {
    const filter = {
      ...(wanted === undefined ? {} : { status: wanted }),
      ...(called === undefined ? {} : { name: called }),
    }
    const page = await perform((acting) =>
      acting.list({
        filter,
        limit,
        turn,
        ports: true,
        budgets: true,
        ...(after === undefined ? {} : { after }),
      }),
    )
    const processes = page.processes.map(({ record, ...more }) => ({ ...viewOf(record), ...more }))
    const lines = processes.map(
      (process) =>
        `${sentenceOn(process)}${process.shared ? ' [shared with you]' : ''}${portsText(process.ports)}${budgetText(process.budget)}`,
    )
    const said = fitting(lines, (line) => line.length + 1, PAGE_CHARS)
    const rest = lines.length - said.length
    const text = [
      ...(lines.length === 0 ? [wanted === 'any' ? 'No processes.' : 'No process is running.'] : said),
      ...(rest > 0 ? [`… and ${rest} more: ask with a smaller limit.`] : []),
      ...(page.next === null ? [] : [`There are more: after: ${page.next}`]),
    ].join('\n')
    return { structured: { processes, next: page.next }, text }
  },
})

/** What has a limit: the rest is in the structured answer. */
function budgetText(budget: z.output<typeof budgetShape> | undefined): string {
  const limited = Object.entries(budget?.given ?? {}) as [keyof z.output<typeof amounts>, number][]
  if (budget === undefined || limited.length === 0) return ''
  return ` [used ${limited.map(([name, given]) => `${budget.total[name] ?? 0} of ${given} ${name}`).join(', ')}]`
}

function portsText(ports: readonly number[] | undefined): string {
  return ports === undefined ? '' : ` [listens on ${ports.join(', ')}]`
}
