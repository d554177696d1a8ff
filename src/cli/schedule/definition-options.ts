import type { InputOf, OutputOf } from '../../verbs/reeve.ts'
import { momentOf } from '../moment.ts'
import type { Options } from '../options.ts'
import { localZone } from '../print/times.ts'
import { PROCESS_OPTIONS } from '../process-options.ts'
import { refuseStray } from '../stray-options.ts'
import { UsageError } from '../usage-error.ts'

type Given = InputOf<'addSchedule'>
type ScheduleTimes = Given['times']
type KnownTimes = OutputOf<'schedule'>['times']

/** The options that define a schedule. An edit gives some of them. */
export const DEFINITION_OPTIONS = {
  cron: { type: 'text', value: 'expression', about: "when, like '0 2 * * *': every night at two" },
  zone: { type: 'text', value: 'zone', about: 'the time zone of --cron; yours by default' },
  every: { type: 'duration', about: 'how often, like 15m' },
  at: { type: 'text', value: 'time', about: 'once, at this time, like 2027-01-31T08:00' },
  in: { type: 'duration', about: 'once, after this time, like 20m; a number alone is seconds' },
  start: { type: 'text', value: 'time', about: 'not before this time; edit: none removes it' },
  end: { type: 'text', value: 'time', about: 'not after this time; edit: none removes it' },
  jitter: { type: 'duration', about: 'delay each occurrence by a random time, at most this long' },
  overlap: {
    type: 'text',
    value: 'policy',
    about: 'if the one before still runs: skip (the default), queue, bufferOne, cancelOther or allow',
    choices: ['skip', 'queue', 'bufferOne', 'cancelOther', 'allow'],
  },
  'catch-up': { type: 'duration', about: 'how late an occurrence may start; 1h by default' },
  'pause-on-failure': { type: 'flag', about: 'pause when an occurrence fails' },
  ...PROCESS_OPTIONS,
} as const

export type DefinitionOptions = Options<typeof DEFINITION_OPTIONS>

/** When it runs; undefined if no option says so. `known`: of the schedule before an edit, which may change a part of it. */
export function timesIn(
  options: DefinitionOptions,
  now: number,
  known?: KnownTimes,
): ScheduleTimes | undefined {
  const { cron, every, at, in: after } = options
  const given = [cron, every, at, after].filter((value) => value !== undefined).length
  if (given > 1)
    throw new UsageError('Give one of --cron, --every, --at and --in.', "For example: --cron '0 2 * * *'")
  const repeated = known?.type === 'at' ? undefined : known
  const times = repeatedTimes(options, repeated)
  if (times === undefined) refuseStray(options, PARTS, '--cron or --every')
  if (at !== undefined) return { type: 'at', at: momentOf(at, '--at', now) }
  if (after !== undefined) return { type: 'at', at: now + after }
  if (times === undefined) return undefined
  if (times.type === 'every') refuseStray(options, ['zone'], '--cron')
  return {
    ...times,
    ...boundIn('start', options.start, repeated?.start, now),
    ...boundIn('end', options.end, repeated?.end, now),
  }
}

/** Options that an edit may give alone: the rest of the times stays. */
const PARTS = ['zone', 'start', 'end'] as const

/** Without start and end. Undefined if they are not given, and no part of the known ones changes. */
function repeatedTimes(
  options: DefinitionOptions,
  known: Exclude<KnownTimes, { type: 'at' }> | undefined,
): ScheduleTimes | undefined {
  const { cron, every, at, in: after } = options
  const zone = options.zone ?? (known?.type === 'cron' ? known.zone : localZone())
  if (cron !== undefined) return { type: 'cron', cron, zone }
  if (every !== undefined) return { type: 'every', everyMs: every }
  const isPart = at === undefined && after === undefined && PARTS.some((part) => options[part] !== undefined)
  if (known === undefined || !isPart) return undefined
  return known.type === 'cron'
    ? { type: 'cron', cron: known.cron, zone }
    : { type: 'every', everyMs: known.everyMs }
}

function boundIn(name: 'start' | 'end', text: string | undefined, known: number | undefined, now: number) {
  const at = text === undefined ? known : text === 'none' ? undefined : momentOf(text, `--${name}`, now)
  return at === undefined ? {} : { [name]: at }
}

/** The rest of the definition. */
export function policyIn(options: DefinitionOptions): Partial<Given> {
  const { jitter, overlap, 'catch-up': catchUp } = options
  return {
    ...(jitter === undefined ? {} : { jitterMs: jitter }),
    ...(overlap === undefined ? {} : { overlap: overlap as NonNullable<Given['overlap']> }),
    ...(catchUp === undefined ? {} : { catchUpMs: catchUp }),
    ...(options['pause-on-failure'] ? { pauseOnFailure: true } : {}),
  }
}
