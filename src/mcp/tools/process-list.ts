import * as z from 'zod'
import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import type { amounts, budgetShape } from '../../verbs/shapes/allowance.ts'
import { status } from '../../verbs/shapes/record.ts'
import { cursor, name } from '../../verbs/shapes/scalars.ts'
import { approvalNotes } from '../approvals/approval-notes.ts'
import { listedAs, unlisted } from '../input-schema.ts'
import { fitting, PAGE_CHARS } from '../page.ts'
import { describeProcess } from '../process-sentences.ts'
import { structuredView, viewOf } from '../process-view.ts'
import { tool } from '../tool.ts'

/** The rest is for the lines around the processes. */
const LIST_CHARS = PAGE_CHARS - 200

export const processList = tool({
  name: 'process_list',
  title: 'List processes',
  description: [
    'Lists your processes that have not ended, newest first, with ports and budgets. Use it when you come back to a',
    'project or have lost a pid: earlier processes are still there.',
  ].join(' '),
  searchHint: 'list processes, what is running, background jobs, ports, find pid',
  input: z.strictObject({
    status: listedAs(z.union([z.literal('any'), status, z.array(status).min(1)]).exactOptional(), {
      type: 'string',
      enum: ['any', 'running', 'completed', 'failed', 'cancelled'],
      description: 'only this status; any: all',
    }),
    name: name.exactOptional().describe('only this name'),
    after: cursor.exactOptional().describe('from an earlier answer'),
    limit: unlisted(z.number().int().min(1).max(200).default(25).describe('most processes')),
  }),
  effect: 'read',
  async run({ status: wanted, name: called, after, limit }, { perform, structured, session: { turn } }) {
    const statuses = wanted === undefined || wanted === 'any' || Array.isArray(wanted) ? wanted : [wanted]
    const filter = {
      ...(statuses === undefined ? {} : { status: statuses }),
      ...(called === undefined ? {} : { name: called }),
    }
    const list = (most: number) => {
      const from = after === undefined ? {} : { after }
      return perform((acting) =>
        acting.list({ filter, limit: most, newestFirst: true, turn, ports: true, budgets: true, ...from }),
      )
    }
    const sizeOf = (one: Listed) =>
      Math.max(lineOf(one).length, structured ? JSON.stringify(structuredOf(one)).length : 0) + 1
    let page = await list(limit)
    const fit = fitting(page.processes, sizeOf, LIST_CHARS).length
    // Listed again with the number that fits, so that `next` points after the last one shown.
    if (fit < page.processes.length) page = await list(fit)
    const { processes, next } = page
    const none = wanted === undefined ? 'No process is running.' : 'No processes.'
    const asked = await perform((acting) => rulesOf(acting, processes))
    const text = [
      ...(processes.length === 0
        ? [none]
        : processes.map((one) => `${lineOf(one)}${asked.get(one.record.pid) ?? ''}`)),
      ...(next === null ? [] : [`Older ones: after: "${next}"`]),
    ].join('\n')
    return { structured: { processes: processes.map(structuredOf), next }, text }
  },
})

/** How many processes are listed with the rule that asks for them; a rule may be long. */
const MAX_RULES = 10

/** The rules that make processes wait for a person. */
async function rulesOf(acting: ReeveVerbs, listed: readonly Listed[]): Promise<ReadonlyMap<string, string>> {
  const waiting = listed.map(({ record }) => viewOf(record)).filter(({ approval }) => approval !== null)
  const found = new Map<string, string>()
  for (const process of waiting.slice(0, MAX_RULES)) {
    const [note] = await approvalNotes(acting, process)
    if (note !== undefined) found.set(process.pid, ` ${note}`)
  }
  return found
}

type Listed = OutputOf<'list'>['processes'][number]

function structuredOf({ record, ...more }: Listed): object {
  return { ...structuredView(viewOf(record)), ...more }
}

function lineOf({ record, shared, ports, budget }: Listed): string {
  const sharedText = shared ? ' [shared with you]' : ''
  return `${describeProcess({ ...viewOf(record), message: null })}${sharedText}${portsText(ports)}${budgetText(budget)}`
}

/** Only amounts with a limit. */
function budgetText(budget: z.output<typeof budgetShape> | undefined): string {
  const limited = Object.entries(budget?.given ?? {}) as [keyof z.output<typeof amounts>, number][]
  if (budget === undefined || limited.length === 0) return ''
  return ` [used ${limited.map(([name, given]) => `${budget.total[name] ?? 0} of ${given} ${name}`).join(', ')}]`
}

function portsText(ports: readonly number[] | undefined): string {
  return ports === undefined ? '' : ` [listens on ${ports.join(', ')}]`
}
