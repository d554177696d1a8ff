import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { momentOf } from '../moment.ts'
import { type NamedAct, printChanged, printLine, runNamedAction } from '../named-actions.ts'
import { lastFailure } from '../print/last-occurrence.ts'
import { zonedTime } from '../print/times.ts'
import { PROCESS_FIELDS, processIn } from '../process-options.ts'
import {
  DEFINITION_OPTIONS,
  type DefinitionOptions,
  policyIn,
  timesIn,
} from '../schedule/definition-options.ts'
import { printSchedule, printSchedules, zoneOf } from '../schedule/print-schedules.ts'
import { refuseEmptyEdit } from '../stray-options.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

const ACTIONS = ['add', 'list', 'show', 'pause', 'resume', 'run', 'backfill', 'edit', 'remove'] as const
type Action = Exclude<(typeof ACTIONS)[number], 'list'>

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
    'times.start': 'start',
    'times.end': 'end',
    pauseOnFailure: 'pause-on-failure',
    note: 'note',
    ...PROCESS_FIELDS,
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
  run: (context) =>
    runNamedAction(context, {
      noun: 'schedule',
      actions: ACTIONS,
      example: 'nightly',
      load: async (reeve, page) => (await reeve.schedules(page)).schedules,
      printList: printSchedules,
      act,
    }),
})

async function act({ context, reeve, action, id, argv }: NamedAct<Action, ScheduleOptions>): Promise<number> {
  const { print, options } = context
  switch (action) {
    case 'add':
      return told(context, await add(context, reeve, id, argv))
    case 'edit':
      return told(context, await edit(context, reeve, id, argv))
    case 'show': {
      const shown = await reeve.schedule({ schedule: id })
      if (print.isJson) print.json(shown)
      else printSchedule(context, shown, await lastFailure(reeve, shown))
      return 0
    }
    case 'pause': {
      const { note } = options
      return told(
        context,
        await reeve.pauseSchedule({ schedule: id, ...(note === undefined ? {} : { note }) }),
      )
    }
    case 'resume':
      return told(context, await reeve.resumeSchedule({ schedule: id }))
    case 'run': {
      const { record } = await reeve.runSchedule({ schedule: id })
      return printLine(context, record, record.pid)
    }
    case 'backfill':
      return backfilled(context, await backfill(context, reeve, id))
    case 'remove':
      return printLine(context, await reeve.removeSchedule({ schedule: id }), id)
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
  const known = (await reeve.schedule({ schedule: id })).times
  const times = timesIn(context.options, Date.now(), known)
  const process = await processIn(context, argv)
  const request = {
    schedule: id,
    ...(times === undefined ? {} : { times }),
    ...(process === undefined ? {} : { process }),
    ...policyIn(context.options),
  }
  refuseEmptyEdit(request, "Give an option, like --cron '0 3 * * *', or a program behind --.")
  return reeve.editSchedule(request)
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

/** Says which of its times runs now. All at once, or if all were registered before, none is ahead of the others. */
function backfilled(context: Context<ScheduleOptions>, shown: OutputOf<'schedule'>): number {
  return printChanged(context, shown, () => {
    const { backfill: under, times } = shown
    if (under === null)
      return `Its times are registered: reeve ps --all --session ${shown.session} lists them.`
    const zone = zoneOf(times)
    return `Runs its times until ${zonedTime(under.until, zone)}, from ${zonedTime(under.at, zone)} (${under.pid}) on.`
  })
}

/** Says when it runs next: the name alone would not show a wrong zone. */
function told(context: Context<ScheduleOptions>, shown: OutputOf<'schedule'>): number {
  return printChanged(context, shown, () => {
    const { next, times } = shown
    return next === null ? undefined : `Next: ${zonedTime(next.at, zoneOf(times))} (${next.pid}).`
  })
}
