import { resolve } from 'node:path'
import type { InputOf } from '../../verbs/reeve.ts'
import { chooseModel } from '../agent/choose-model.ts'
import type { Context } from '../context.ts'
import { momentOf } from '../moment.ts'
import type { Options } from '../options.ts'
import { UsageError } from '../usage-error.ts'

type Given = InputOf<'addSchedule'>
type ScheduleTimes = Given['times']
type ScheduledProcess = Given['process']

/** The options that define a schedule. An edit gives some of them. */
export const DEFINITION_OPTIONS = {
  cron: { type: 'text', value: 'expression', about: "when, like '0 2 * * *': every night at two" },
  zone: { type: 'text', value: 'zone', about: 'the time zone of --cron; yours by default' },
  every: { type: 'duration', about: 'how often, like 15m' },
  at: { type: 'text', value: 'time', about: 'once, at this time, like 2027-01-31T08:00' },
  in: { type: 'duration', about: 'once, after this time, like 20m' },
  start: { type: 'text', value: 'time', about: 'not before this time' },
  end: { type: 'text', value: 'time', about: 'not after this time' },
  jitter: { type: 'duration', about: 'delay each occurrence by a random time, at most this long' },
  overlap: {
    type: 'text',
    value: 'policy',
    about: 'if the one before still runs: skip (the default), queue, bufferOne, cancelOther or allow',
    choices: ['skip', 'queue', 'bufferOne', 'cancelOther', 'allow'],
  },
  'catch-up': { type: 'duration', about: 'how late an occurrence may start; 1h by default' },
  'pause-on-failure': { type: 'flag', about: 'pause when an occurrence fails' },
  shell: { type: 'text', short: 'c', value: 'line', about: 'run this shell line, instead of a program' },
  agent: { type: 'text', value: 'goal', about: 'run an agent with this goal' },
  model: { type: 'text', value: 'provider/model', about: 'the model of the agent' },
  workflow: { type: 'text', value: 'name', about: 'run a workflow' },
  input: { type: 'text', value: 'json', about: 'the input of the workflow' },
  cwd: { type: 'text', value: 'folder', about: 'the working folder; this one by default' },
  env: { type: 'texts', short: 'e', value: 'NAME=value', about: 'a variable of the command' },
  label: { type: 'text', short: 'l', value: 'text', about: 'a description of each occurrence' },
} as const

export type DefinitionOptions = Options<typeof DEFINITION_OPTIONS>

/** When it runs; undefined if no option says so. */
export function timesIn(options: DefinitionOptions, now: number): ScheduleTimes | undefined {
  const { cron, every, at, in: after, zone, start, end } = options
  const given = [cron, every, at, after].filter((value) => value !== undefined).length
  if (given > 1)
    throw new UsageError('Give one of --cron, --every, --at and --in.', "For example: --cron '0 2 * * *'")
  const bounds = {
    ...(start === undefined ? {} : { start: momentOf(start, '--start', now) }),
    ...(end === undefined ? {} : { end: momentOf(end, '--end', now) }),
  }
  if (cron !== undefined)
    return { type: 'cron', cron, zone: zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone, ...bounds }
  if (every !== undefined) return { type: 'every', everyMs: every, ...bounds }
  if (at !== undefined) return { type: 'at', at: momentOf(at, '--at', now), ...bounds }
  if (after !== undefined) return { type: 'at', at: now + after, ...bounds }
  return undefined
}

/** What it runs; undefined if neither an argument nor an option says so. */
export async function processIn(
  context: Context<DefinitionOptions>,
  argv: readonly string[],
): Promise<ScheduledProcess | undefined> {
  const { options, around } = context
  const { shell, agent, workflow } = options
  const given = [shell, agent, workflow, argv[0]].filter((value) => value !== undefined).length
  if (given === 0) return undefined
  if (given > 1)
    throw new UsageError(
      'Give one of a program, --shell, --agent and --workflow.',
      'For example: reeve schedule add nightly --cron "0 2 * * *" -- npm test',
    )
  const label = options.label === undefined ? {} : { label: options.label }
  const cwd = resolve(around.cwd, options.cwd ?? '.')
  if (workflow !== undefined) {
    const input = options.input === undefined ? {} : { input: jsonIn(options.input) }
    return { kind: 'workflow', spec: { workflow, ...input }, ...label }
  }
  if (agent !== undefined) {
    const model = await chooseModel(context, await context.acting(), options.model)
    return { kind: 'agent', spec: { agent: 'agent', model, goal: agent, once: true }, cwd, ...label }
  }
  const what = shell === undefined ? { argv: [...argv] } : { run: shell }
  return { kind: 'command', spec: { ...what, env: variablesIn(context) }, cwd, ...label }
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

/** The command runs without a terminal, so it gets the PATH of this shell, and what --env names. */
function variablesIn({ options, around }: Context<DefinitionOptions>): Record<string, string> {
  const own = options.env.map((text) => {
    const at = text.indexOf('=')
    if (at <= 0) throw new UsageError(`--env was given ${text}.`, 'It takes NAME=value.')
    return [text.slice(0, at), text.slice(at + 1)] as const
  })
  const path = around.env['PATH']
  return { ...(path === undefined ? {} : { PATH: path }), ...Object.fromEntries(own) }
}

function jsonIn(text: string) {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError('--input must be JSON.', `Quote it for the shell: --input '{"title":"News"}'`)
  }
}
