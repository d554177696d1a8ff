import { resolve } from 'node:path'
import type { InputOf, OutputOf } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import type { Options } from '../options.ts'
import { PROCESS_OPTIONS } from '../process-options.ts'
import { isGiven, refuseStray } from '../stray-options.ts'
import { UsageError } from '../usage-error.ts'

type Given = InputOf<'addTrigger'>
type Source = Given['source']
type EventSource = Extract<Source, { type: 'event' }>
type KnownEvents = Omit<Extract<KnownSource, { type: 'event' }>, 'type'>
type WebhookSource = Extract<Source, { type: 'webhook' }>
type KnownSource = OutputOf<'trigger'>['source']

/** The options that define a trigger. An edit gives some of them. */
export const TRIGGER_OPTIONS = {
  on: { type: 'texts', value: 'event', about: 'start on an event of a process, like ended' },
  outcome: {
    type: 'texts',
    value: 'status',
    about: 'of --on ended: completed, failed, cancelled or abandoned',
    choices: ['completed', 'failed', 'cancelled', 'abandoned'],
  },
  'of-kind': {
    type: 'texts',
    value: 'kind',
    about: 'of --on: processes of this kind',
    choices: ['command', 'agent', 'workflow', 'tool', 'external'],
  },
  'of-name': { type: 'texts', value: 'name', about: 'of --on: processes of this name' },
  'of-label': { type: 'texts', value: 'text', about: 'of --on: processes with this label' },
  'of-session': { type: 'text', value: 'session', about: 'of --on: processes of this session' },
  files: { type: 'text', value: 'glob', about: "start when these files change, like '*.csv'" },
  folder: {
    type: 'text',
    value: 'folder',
    about: 'of --files: where they are; for a new trigger this folder by default',
  },
  debounce: { type: 'duration', about: 'of --files: how long they must rest; 500ms by default' },
  webhook: { type: 'flag', about: 'start on a signed request to /hooks/<name>' },
  match: {
    type: 'texts',
    value: 'path=value',
    about: 'of --webhook: only if the body has this value, like action=opened',
  },
  'max-bytes': { type: 'number', value: 'number', about: 'of --webhook: the largest body; 65536 by default' },
  'max-per-minute': {
    type: 'number',
    value: 'number',
    about: 'of --webhook: how many deliveries it accepts in a minute; 1200 by default',
  },
  overlap: {
    type: 'text',
    value: 'policy',
    about: 'if an occurrence still runs: queue (the default), skip, bufferOne, cancelOther or allow',
    choices: ['skip', 'queue', 'bufferOne', 'cancelOther', 'allow'],
  },
  'pause-on-failure': { type: 'flag', about: 'pause when an occurrence fails' },
  ...PROCESS_OPTIONS,
} as const

/** Options that say more about one kind of source. */
const OF_SOURCE = {
  on: ['outcome', 'of-kind', 'of-name', 'of-label', 'of-session'],
  files: ['folder', 'debounce'],
  webhook: ['match', 'max-bytes', 'max-per-minute'],
} as const satisfies { readonly [source: string]: readonly (keyof typeof TRIGGER_OPTIONS)[] }

export type TriggerOptions = Options<typeof TRIGGER_OPTIONS>

/**
 * What starts it; undefined if no option says so. `known`: of the trigger before an edit, which may change a part of it. `--on` and
 * `--webhook` begin without the parts that are not repeated, so that a part can be removed.
 */
export function sourceIn(
  { options, around }: Context<TriggerOptions>,
  known?: KnownSource,
): Source | undefined {
  const { on, files, webhook, folder, debounce } = options
  const given = [on.length > 0, files !== undefined, webhook].filter((is) => is).length
  if (given > 1) throw new UsageError('Give one of --on, --files and --webhook.', 'For example: --on ended')
  const type = on.length > 0 ? 'event' : files !== undefined ? 'files' : webhook ? 'webhook' : known?.type
  if (type !== 'event') refuseStray(options, OF_SOURCE.on, '--on')
  if (type !== 'files') refuseStray(options, OF_SOURCE.files, '--files')
  if (type !== 'webhook') refuseStray(options, OF_SOURCE.webhook, '--webhook')
  if (type === undefined) return undefined
  if (given === 0 && !hasPart(options, type)) return undefined
  if (type === 'event')
    return eventSource(options, on.length === 0 && known?.type === 'event' ? known : { on: [...on] })
  if (type === 'webhook')
    return webhookSource(options, !webhook && known?.type === 'webhook' ? known : { filter: {} })
  const before = known?.type === 'files' ? known : undefined
  const rest = debounce ?? before?.debounceMs
  return {
    type: 'files',
    folder: folder === undefined && before !== undefined ? before.folder : resolve(around.cwd, folder ?? '.'),
    glob: files ?? before?.glob ?? '',
    ...(rest === undefined ? {} : { debounceMs: rest }),
  }
}

function hasPart(options: TriggerOptions, type: Source['type']): boolean {
  const names = { event: OF_SOURCE.on, files: OF_SOURCE.files, webhook: OF_SOURCE.webhook }[type]
  return names.some((name) => isGiven(options[name]))
}

function webhookSource(
  options: TriggerOptions,
  before: Partial<Pick<WebhookSource, 'maxBytes' | 'maxPerMinute'>> & {
    readonly filter: Readonly<Record<string, unknown>>
  },
): Source {
  const maxBytes = options['max-bytes'] ?? before.maxBytes
  const maxPerMinute = options['max-per-minute'] ?? before.maxPerMinute
  const filter = options.match.length === 0 ? before.filter : Object.fromEntries(options.match.map(memberIn))
  return {
    type: 'webhook',
    filter: filter as WebhookSource['filter'],
    ...(maxBytes === undefined ? {} : { maxBytes }),
    ...(maxPerMinute === undefined ? {} : { maxPerMinute }),
  }
}

function eventSource(options: TriggerOptions, before: KnownEvents): EventSource {
  const { outcome, 'of-kind': kind, 'of-name': name, 'of-label': label, 'of-session': session } = options
  return {
    ...before,
    type: 'event',
    on: [...before.on],
    ...(outcome.length === 0 ? {} : { outcome: [...outcome] as NonNullable<EventSource['outcome']> }),
    ...(kind.length === 0 ? {} : { kind: [...kind] as NonNullable<EventSource['kind']> }),
    ...(name.length === 0 ? {} : { name: [...name] }),
    ...(label.length === 0 ? {} : { label: [...label] }),
    ...(session === undefined ? {} : { session }),
  }
}

/** A value that is no number, `true`, `false` or `null` is a text. */
function memberIn(text: string): [string, string | number | boolean | null] {
  const at = text.indexOf('=')
  if (at <= 0) throw new UsageError(`--match was given ${text}.`, 'It takes path=value, like action=opened.')
  return [text.slice(0, at), scalarIn(text.slice(at + 1))]
}

function scalarIn(text: string): string | number | boolean | null {
  try {
    const value: unknown = JSON.parse(text)
    const isScalar = ['string', 'number', 'boolean'].includes(typeof value) || value === null
    return isScalar ? (value as string | number | boolean | null) : text
  } catch {
    return text
  }
}

/** The rest of the definition. */
export function policyIn(options: TriggerOptions): Pick<Given, 'overlap' | 'pauseOnFailure'> {
  const { overlap } = options
  return {
    ...(overlap === undefined ? {} : { overlap: overlap as NonNullable<Given['overlap']> }),
    ...(options['pause-on-failure'] ? { pauseOnFailure: true } : {}),
  }
}
