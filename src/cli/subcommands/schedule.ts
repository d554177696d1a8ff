import { didYouMean } from '../../base/nearest-name.ts'
import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { momentOf } from '../moment.ts'
import { processIn } from '../process-options.ts'
import {
  DEFINITION_OPTIONS,
  type DefinitionOptions,
  policyIn,
  timesIn,
} from '../schedule/definition-options.ts'
import { printSchedule, printSchedules } from '../schedule/print-schedules.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

const ACTIONS = ['add', 'list', 'show', 'pause', 'resume', 'run', 'backfill', 'edit', 'remove'] as const
type Action = (typeof ACTIONS)[number]
const PAGE = 1_000

type ScheduleOptions = DefinitionOptions & {
  readonly note: string | undefined
  readonly from: string | undefined
  readonly until: string | undefined
}

export const schedule = subcommand({
  name: 'schedule',
  summary: 'Runs commands, agents and workflows at certain times',
  usage: [
    'schedule add <name> --cron <expression> | --every <time> | --at <time> | --in <time> [options] -- <program> [argument]…',
    'schedule list',
    'schedule show <name>',
    'schedule pause <name> [--note <text>]',
    'schedule resume <name>',
    'schedule run <name>',
    'schedule backfill <name> --from <time> [--until <time>] [--overlap queue|allow]',
    'schedule edit <name> [options] [-- <program> [argument]…]',
    'schedule remove <name>',
  ],
  completes: ACTIONS,
  options: {
    ...DEFINITION_OPTIONS,
    note: { type: 'text', value: 'text', about: 'pause: why' },
    from: { type: 'text', value: 'time', about: 'backfill: the first time' },
    until: { type: 'text', value: 'time', about: 'backfill: the last time; now by default' },
  },
  fields: {
    times: 'cron',
    'times.cron': 'cron',
    'times.zone': 'zone',
    'times.everyMs': 'every',
    'times.at': 'at',
    jitterMs: 'jitter',
    overlap: 'overlap',
    catchUpMs: 'catch-up',
    from: 'from',
    until: 'until',
  },
  about: `
Each occurrence is a process in the session schedule:<name>: reeve ps --session schedule:<name> --all lists them. A schedule runs
with the rights that you have now. While no daemon runs nothing starts; the latest missed time within --catch-up then runs, once.`,
  examples: [
    ["reeve schedule add nightly --cron '0 2 * * *' -- npm test", 'every night at two, in your time zone'],
    ["reeve schedule add triage --cron '0 2 * * *' --agent 'Sort the new issues'", 'an agent, every night'],
    ['reeve schedule add poll --every 15m --overlap queue -c ./poll.sh', ''],
    ['reeve schedule run nightly', 'now, besides its own times'],
    ['reeve schedule backfill nightly --from 2027-01-01', 'the nights that did not run'],
  ],
  async run(context) {
    const [action = 'list', id, ...argv] = context.args
    if (!isAction(action))
      throw new UsageError(
        `reeve schedule does not know ${action}.${didYouMean(action, ACTIONS)}`,
        `It knows ${ACTIONS.join(', ')}.`,
      )
    const reeve = await context.acting()
    if (action === 'list') return list(context, reeve)
    if (id === undefined)
      throw new UsageError(`reeve schedule ${action} needs the name of a schedule.`, 'For example: nightly')
    return act(context, reeve, action, id, argv)
  },
})

function isAction(text: string): text is Action {
  return ACTIONS.some((action) => action === text)
}

async function act(
  context: Context<ScheduleOptions>,
  reeve: ReeveVerbs,
  action: Exclude<Action, 'list'>,
  id: string,
  argv: readonly string[],
): Promise<number> {
  const { print, options } = context
  switch (action) {
    case 'add':
      return told(context, await add(context, reeve, id, argv))
    case 'edit':
      return told(context, await edit(context, reeve, id, argv))
    case 'show': {
      const shown = await reeve.schedule({ schedule: id })
      if (print.isJson) print.json(shown)
      else printSchedule(context, shown)
      return 0
    }
    case 'pause':
      return told(
        context,
        await reeve.pauseSchedule({
          schedule: id,
          ...(options.note === undefined ? {} : { note: options.note }),
        }),
      )
    case 'resume':
      return told(context, await reeve.resumeSchedule({ schedule: id }))
    case 'run': {
      const { record } = await reeve.runSchedule({ schedule: id })
      if (print.isJson) print.json(record)
      else print.line(record.pid)
      return 0
    }
    case 'backfill':
      return told(context, await backfill(context, reeve, id))
    case 'remove': {
      const answer = await reeve.removeSchedule({ schedule: id })
      if (print.isJson) print.json(answer)
      else print.line(id)
      return 0
    }
  }
}

async function add(
  context: Context<ScheduleOptions>,
  reeve: ReeveVerbs,
  id: string,
  argv: readonly string[],
): Promise<OutputOf<'addSchedule'>> {
  const times = timesIn(context.options, Date.now())
  if (times === undefined)
    throw new UsageError('When does it run?', "Give --cron, --every, --at or --in, like --cron '0 2 * * *'.")
  const process = await processIn(context, argv)
  if (process === undefined)
    throw new UsageError('What does it run?', 'Give a program behind --, or --shell, --agent or --workflow.')
  return reeve.addSchedule({ schedule: id, times, process, ...policyIn(context.options) })
}

async function edit(
  context: Context<ScheduleOptions>,
  reeve: ReeveVerbs,
  id: string,
  argv: readonly string[],
): Promise<OutputOf<'editSchedule'>> {
  const known = context.options.cron === undefined ? null : (await reeve.schedule({ schedule: id })).times
  const times = timesIn(context.options, Date.now(), known?.type === 'cron' ? known.zone : undefined)
  const process = await processIn(context, argv)
  return reeve.editSchedule({
    schedule: id,
    ...(times === undefined ? {} : { times }),
    ...(process === undefined ? {} : { process }),
    ...policyIn(context.options),
  })
}

async function backfill(
  { options }: Context<ScheduleOptions>,
  reeve: ReeveVerbs,
  id: string,
): Promise<OutputOf<'backfillSchedule'>> {
  const now = Date.now()
  const { from, until, overlap } = options
  if (from === undefined)
    throw new UsageError('A backfill needs its first time.', 'For example: --from 2027-01-01')
  if (overlap !== undefined && overlap !== 'queue' && overlap !== 'allow')
    throw new UsageError(`--overlap ${overlap} would leave out times of a backfill.`, 'Give queue or allow.')
  return reeve.backfillSchedule({
    schedule: id,
    from: momentOf(from, '--from', now),
    // The daemon's clock may be a little behind.
    until: until === undefined ? now - CLOCK_DIFFERENCE_MS : momentOf(until, '--until', now),
    ...(overlap === undefined ? {} : { overlap }),
  })
}

const CLOCK_DIFFERENCE_MS = 1_000

async function list({ print }: Context<ScheduleOptions>, reeve: ReeveVerbs): Promise<number> {
  const found: OutputOf<'schedules'>['schedules'] = []
  for (;;) {
    const after = found.at(-1)?.id
    const { schedules } = await reeve.schedules({ limit: PAGE, ...(after === undefined ? {} : { after }) })
    found.push(...schedules)
    if (schedules.length < PAGE) break
  }
  if (print.isJson) print.jsonList(found)
  else printSchedules({ print }, found)
  return 0
}

/** Says when it runs next: the name alone would not show a wrong zone. */
function told({ print }: Context<ScheduleOptions>, shown: OutputOf<'schedule'>): number {
  if (print.isJson) {
    print.json(shown)
    return 0
  }
  print.line(shown.id)
  const { next, paused } = shown
  if (paused !== null) print.aside(`${shown.id} is paused${paused.note === null ? '' : `: ${paused.note}`}`)
  else if (next !== null) print.aside(`Next: ${new Date(next.at).toISOString()} (${next.pid}).`)
  return 0
}
