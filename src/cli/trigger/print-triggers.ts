import type { OutputOf } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { occurrenceText } from '../print/occurrence-text.ts'
import { ago } from '../print/times.ts'

type Shown = OutputOf<'trigger'>

export function printTriggers({ print }: Pick<Context, 'print'>, triggers: readonly Shown[]): void {
  const now = Date.now()
  const { blue, dim } = print.colours
  print.table(
    [
      { title: 'NAME' },
      { title: 'ON', shrinks: true },
      { title: 'STATE' },
      { title: 'LAST' },
      { title: 'RUNS' },
      { title: 'WHAT', flexible: true },
    ],
    triggers.map((trigger) => [
      { text: trigger.id, paint: blue },
      { text: sourceText(trigger) },
      { text: stateText(trigger) },
      { text: lastText(trigger, now), paint: dim },
      { text: String(trigger.counts.started) },
      { text: occurrenceText(trigger) },
    ]),
  )
}

export function printTrigger(
  { print }: Pick<Context, 'print'>,
  trigger: Shown,
  failure: string | undefined,
): void {
  const now = Date.now()
  const { counts, paused, running, source } = trigger
  const rows: [string, string][] = [
    ['name', trigger.id],
    ['on', sourceText(trigger)],
    ...(source.type === 'webhook' ? [['path', source.path] as [string, string]] : []),
    ['what', occurrenceText(trigger)],
    ['overlap', trigger.overlap],
    ['session', trigger.session],
    ['state', stateText(trigger)],
    ['last', lastText(trigger, now)],
    ...(failure === undefined ? [] : [['because', failure] as [string, string]]),
    ...running.map(({ pid }): [string, string] => ['running', pid]),
    [
      'counts',
      `${counts.started} started, ${trigger.queued} queued, ${counts.filtered} filtered, ${counts.skipped} skipped, ${counts.duplicates} duplicates, ${counts.failed} failed`,
    ],
    ...(paused === null ? [] : [['paused', pausedText(paused, now)] as [string, string]]),
    ['defined', `${ago(trigger.editedAt, now)} by ${trigger.createdBy}`],
  ]
  for (const [name, text] of rows) print.line(`${name.padEnd(9)} ${text}`)
}

export function printDeliveries(
  { print }: Pick<Context, 'print'>,
  deliveries: OutputOf<'deliveries'>['deliveries'],
): void {
  const now = Date.now()
  const { blue, dim } = print.colours
  print.table(
    [
      { title: 'NUMBER' },
      { title: 'VERDICT' },
      { title: 'PID' },
      { title: 'WHEN' },
      { title: 'DELIVERY', flexible: true },
    ],
    deliveries.map(({ number, verdict, pid, at, id, reason }) => [
      { text: String(number) },
      { text: verdict },
      { text: pid ?? '', paint: blue },
      { text: ago(at, now), paint: dim },
      { text: reason ?? id },
    ]),
  )
}

function pausedText({ at, by, note }: NonNullable<Shown['paused']>, now: number): string {
  return `${ago(at, now)} by ${by}${note === null ? '' : `: ${note}`}`
}

function sourceText({ source }: Shown): string {
  switch (source.type) {
    case 'event': {
      const { on, outcome = [], kind = [], name = [], label = [], session } = source
      const of = [...outcome, ...kind, ...name, ...label, ...(session === undefined ? [] : [session])]
      return of.length === 0 ? on.join(', ') : `${on.join(', ')} of ${of.join(', ')}`
    }
    case 'files':
      return `files ${source.glob} in ${source.folder}`
    case 'webhook': {
      const filter = Object.entries(source.filter).map(([path, value]) => `${path}=${String(value)}`)
      return ['webhook', ...filter].join(' ')
    }
  }
}

function stateText({ paused, running, queued }: Shown): string {
  if (paused !== null) return 'paused'
  if (queued > 0) return `${queued} queued`
  return running.length > 0 ? 'running' : 'ready'
}

function lastText({ last }: Shown, now: number): string {
  return last === null ? '' : `${last.status} ${ago(last.at, now)}`
}
