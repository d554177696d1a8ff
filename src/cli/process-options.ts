import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { InputOf } from '../verbs/reeve.ts'
import { modelFor } from './agent/model-for.ts'
import type { Context } from './context.ts'
import { findProgram } from './find-program.ts'
import type { Options } from './options.ts'
import { refuseStray } from './stray-options.ts'
import { UsageError } from './usage-error.ts'

type OccurrenceProcess = InputOf<'addSchedule'>['process']

/** The options that say what a schedule or a trigger runs. */
export const PROCESS_OPTIONS = {
  shell: { type: 'text', short: 'c', value: 'line', about: 'run this shell line, instead of a program' },
  agent: { type: 'text', value: 'goal', about: 'run an agent with this goal' },
  image: {
    type: 'text',
    value: 'name',
    about: 'the image of the agent; reeve image list shows them',
  },
  model: { type: 'text', value: 'provider/model', about: 'the model of the agent' },
  workflow: { type: 'text', value: 'name', about: 'run a workflow' },
  input: { type: 'text', value: 'json', about: 'the input of the workflow' },
  cwd: { type: 'text', value: 'folder', about: 'the working folder; this one by default' },
  env: { type: 'texts', short: 'e', value: 'NAME=value', about: 'a variable of the command' },
  label: { type: 'text', short: 'l', value: 'text', about: 'a description of each occurrence' },
} as const

/** The option that fills each field of what runs. */
export const PROCESS_FIELDS = {
  'process.cwd': 'cwd',
  'process.label': 'label',
  'process.spec.run': 'shell',
  'process.spec.env': 'env',
  'process.spec.goal': 'agent',
  'process.spec.image': 'image',
  'process.spec.model': 'model',
  'process.spec.workflow': 'workflow',
  'process.spec.input': 'input',
} as const satisfies { readonly [field: string]: keyof typeof PROCESS_OPTIONS }

type ProcessOptions = Options<typeof PROCESS_OPTIONS>

/** What it runs; undefined if neither an argument nor an option says so. */
export async function processIn(
  context: Context<ProcessOptions>,
  argv: readonly string[],
): Promise<OccurrenceProcess | undefined> {
  const { options, around } = context
  const { shell, agent, workflow } = options
  const given = [shell, agent, workflow, argv[0]].filter((value) => value !== undefined).length
  if (given > 1)
    throw new UsageError(
      'Give one of a program, --shell, --agent and --workflow.',
      'For example: -- npm test',
    )
  if (agent === undefined) refuseStray(options, ['image', 'model'], '--agent')
  if (workflow === undefined) refuseStray(options, ['input'], '--workflow')
  if (shell === undefined && argv[0] === undefined) refuseStray(options, ['env'], 'a program or --shell')
  if (given === 0 || workflow !== undefined) refuseStray(options, ['cwd'], 'a program, --shell or --agent')
  if (given === 0) {
    refuseStray(options, ['label'], 'a program, --shell, --agent or --workflow')
    return undefined
  }
  const label = options.label === undefined ? {} : { label: options.label }
  const cwd = resolve(around.cwd, options.cwd ?? '.')
  if (workflow === undefined) refuseMissingFolder(context, cwd)
  if (workflow !== undefined) {
    const input = options.input === undefined ? {} : { input: jsonIn(options.input, '--input') }
    return { kind: 'workflow', spec: { workflow, ...input }, ...label }
  }
  if (agent !== undefined) {
    const { image } = options
    const model = await modelFor(context, await context.acting(), {
      image,
      model: options.model,
      folder: cwd,
    })
    const spec = {
      agent: image ?? 'agent',
      ...(image === undefined ? {} : { image }),
      ...(model === undefined ? {} : { model }),
      ...{ goal: agent, once: true },
    }
    return { kind: 'agent', spec, cwd, ...label }
  }
  const what = shell === undefined ? { argv: [...argv] } : { run: shell }
  const env = variablesIn(context)
  if (shell === undefined) warnOfMissingProgram(context, argv[0] ?? '', env['PATH'] ?? '', cwd)
  return { kind: 'command', spec: { ...what, env }, cwd, ...label }
}

/** Each occurrence would fail, and no person would be there to see it. */
function refuseMissingFolder({ url, token }: Context<ProcessOptions>, cwd: string): void {
  // The daemon may be on another machine.
  if (url !== undefined || token !== undefined || existsSync(cwd)) return
  throw new UsageError(`There is no folder ${cwd}.`, 'Make it first, or give another one with --cwd.')
}

/** A warning alone: the program may be made before the first occurrence. */
function warnOfMissingProgram(
  { url, token, print }: Context<ProcessOptions>,
  program: string,
  path: string,
  cwd: string,
): void {
  if (url !== undefined || token !== undefined || findProgram(program, { path, cwd }) === 'runnable') return
  print.aside(`There is no program ${program} here that can be run, so no occurrence could start now.`)
}

/** The command runs without a terminal, so it gets the PATH of this shell, and what --env names. */
function variablesIn({ options, around }: Context<ProcessOptions>): Record<string, string> {
  const own = options.env.map((text) => {
    const at = text.indexOf('=')
    if (at <= 0) throw new UsageError(`--env was given ${text}.`, 'It takes NAME=value.')
    return [text.slice(0, at), text.slice(at + 1)] as const
  })
  const path = around.env['PATH']
  return { ...(path === undefined ? {} : { PATH: path }), ...Object.fromEntries(own) }
}

export function jsonIn(text: string, option: string) {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(`${option} must be JSON.`, `Quote it for the shell: ${option} '{"title":"News"}'`)
  }
}
