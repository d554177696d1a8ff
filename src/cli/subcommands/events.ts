import { positionOf } from '../../client/connect.ts'
import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import { refuseExtraArguments } from '../arguments.ts'
import type { Context } from '../context.ts'
import { cutTo, displayWidth } from '../print/display-width.ts'
import { onOneLine } from '../print/table.ts'
import { clockTime } from '../print/times.ts'
import { subcommand } from '../subcommand.ts'

type StoredEvent = OutputOf<'events'>['events'][number]

const TAIL = 50
const MAX_EVENTS = 1_000

export const events = subcommand({
  name: 'events',
  summary: 'Shows the events of a process, or of all; -f follows them',
  usage: ['events [options] [process]'],
  completes: 'process',
  options: {
    follow: { type: 'flag', short: 'f', about: 'follow new events' },
    tail: {
      type: 'number',
      short: 'n',
      value: 'count',
      about: `how many of the last events; by default ${TAIL}, up to 1,000`,
    },
    after: {
      type: 'number',
      value: 'position',
      about: 'all events after this position, instead of the last ones',
    },
    session: { type: 'texts', value: 'id', about: 'only events of processes of this session' },
    reveal: { type: 'flag', about: 'show secrets unmasked; this is recorded with the process' },
  },
  examples: [
    ['reeve events web', 'of one process'],
    ['reeve events -f', 'of all processes, as they happen'],
    ['reeve events -f --after 120 --jsonl', 'resume where you stopped, without gap or repeat'],
  ],
  async run(context) {
    refuseExtraArguments(context, { name: 'events' }, 1)
    const { options, print, args } = context
    const reeve = await context.acting()
    const { reveal } = options
    const [given] = args
    const pid = given === undefined ? null : (await reeve.show({ pid: given })).pid
    const session = options.session.length === 0 ? {} : { owner: { session: [...options.session] } }
    const filter = { ...session, ...(pid === null ? {} : { pid: [pid] }), status: 'any' as const }
    const found =
      options.after === undefined
        ? await lastOf(reeve, pid, { filter, reveal }, Math.min(options.tail ?? TAIL, MAX_EVENTS))
        : await eventsAfter(reeve, { filter, reveal }, options.after)
    if (options.follow || !print.isJson) for (const event of found.events) printEvent(context, event)
    else print.jsonList(found.events)
    if (options.follow)
      for await (const event of reeve.follow({ after: found.position, filter, reveal }))
        printEvent(context, event)
    return 0
  },
})

interface Found {
  readonly events: readonly StoredEvent[]
  /** Where to go on. */
  readonly position: number
}

type Filter = NonNullable<NonNullable<Parameters<ReeveVerbs['changes']>[0]>['filter']>

interface Asked {
  readonly filter: Filter
  readonly reveal: boolean
}

async function lastOf(reeve: ReeveVerbs, pid: string | null, asked: Asked, count: number): Promise<Found> {
  if (pid !== null) {
    const { reveal } = asked
    const { events } = count === 0 ? { events: [] } : await reeve.events({ pid, tail: count, reveal })
    return { events, position: events.at(-1)?.position ?? (await currentPosition(reeve)) }
  }
  const position = await currentPosition(reeve)
  // The filter may drop some: then fewer than asked for are shown, rather than reading the whole history.
  const { events } = await eventsAfter(reeve, asked, Math.max(0, position - count * 10), position)
  return { events: count === 0 ? [] : events.slice(-count), position }
}

async function eventsAfter(
  reeve: ReeveVerbs,
  asked: Asked,
  after: number,
  upTo = Number.POSITIVE_INFINITY,
): Promise<Found> {
  const events: StoredEvent[] = []
  let position = after
  while (position < upTo) {
    const page = await reeve.changes({ after: position, ...asked, limit: MAX_EVENTS })
    events.push(...page.events.filter((event) => event.position <= upTo))
    if (page.position === position) break
    position = page.position
  }
  return { events, position: Math.min(position, upTo) }
}

/** The current position of the change feed. */
async function currentPosition(reeve: ReeveVerbs): Promise<number> {
  await reeve.list({ limit: 1 })
  return positionOf(reeve) ?? 0
}

function printEvent({ print }: Context<unknown>, event: StoredEvent): void {
  if (print.isJson) {
    print.jsonLine(event)
    return
  }
  const { dim, cyan, blue } = print.colours
  const head = `${String(event.position).padStart(6)}  ${clockTime(event.at)}`
  const what = event.payload === null ? '' : onOneLine(JSON.stringify(event.payload))
  const used = head.length + event.pid.length + displayWidth(event.type) + 6
  const room = print.width === undefined ? Number.POSITIVE_INFINITY : Math.max(0, print.width - used)
  print.line(`${dim(head)}  ${blue(event.pid)}  ${cyan(event.type)}  ${dim(cutTo(what, room))}`.trimEnd())
}
