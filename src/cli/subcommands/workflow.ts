import { readFileSync } from 'node:fs'
import { didYouMean } from '../../base/nearest-name.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import type { Context } from '../context.ts'
import { exitCodeOf, TIMED_OUT } from '../exit-code.ts'
import { listProcesses } from '../list-processes.ts'
import { progressText, statusText } from '../print/status.ts'
import { ago, clockTime, shortTime } from '../print/times.ts'
import { type Step, stepsBehind, stepsOf } from '../steps.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

interface Options {
  readonly wait: boolean
  readonly timeout: number | undefined
  readonly name: string | undefined
  readonly session: string | undefined
  readonly all: boolean
}

const ACTIONS = ['start', 'list', 'show']
/** How many requests are under way at once: the daemon has other clients. */
const MAX_REQUESTS = 16
const DAY_MS = 24 * 60 * 60 * 1_000

export const workflow = subcommand({
  name: 'workflow',
  summary: 'Starts workflows, lists them and shows their steps',
  usage: ['workflow start [options] <name> [json]', 'workflow list [--all]', 'workflow show <process>'],
  completes: ACTIONS,
  options: {
    wait: { type: 'flag', short: 'w', about: 'start: wait for its end, and print its result' },
    timeout: {
      type: 'duration',
      short: 't',
      about: 'with --wait: how long to wait; exit code 124 on a timeout',
    },
    name: { type: 'text', short: 'n', value: 'name', about: 'start: a name for the process' },
    session: { type: 'text', value: 'id', about: 'start: the session that owns it' },
    all: { type: 'flag', short: 'a', about: 'list: ended ones, too' },
  },
  fields: { name: 'name', 'owner.session': 'session' },
  about: `
A program of yours serves the function, with embed() or connect(). Until one serves that name, the process waits for it. The input
is JSON, or - to read it from standard input.`,
  examples: [
    [`reeve workflow start publish '{"title":"News"}'`, 'prints the pid'],
    ['reeve workflow start publish --wait', 'waits, and prints its result'],
    ['reeve workflow show p_7k3m', 'its steps, with times'],
  ],
  async run(context) {
    const [action = 'list', ...args] = context.args
    if (!ACTIONS.includes(action))
      throw new UsageError(
        `reeve workflow does not know ${action}.${didYouMean(action, ACTIONS)}`,
        `It knows ${ACTIONS.join(', ')}.`,
      )
    if (action === 'start') return start(context, args)
    return action === 'show' ? show(context, args) : list(context)
  },
})

async function start(context: Context<Options>, [name, text, ...more]: readonly string[]): Promise<number> {
  const { options, print } = context
  if (name === undefined || more.length > 0)
    throw new UsageError(
      'reeve workflow start takes the name of a workflow and its input.',
      'For example: publish',
    )
  const input = inputFrom(text)
  const reeve = await context.acting()
  const { record } = await reeve.spawn({
    kind: 'workflow',
    spec: { workflow: name, ...(input === undefined ? {} : { input }) },
    ...(options.name === undefined ? {} : { name: options.name }),
    ...(options.session === undefined ? {} : { owner: { session: options.session } }),
  })
  await hintIfUnserved(context, reeve, name)
  if (options.wait) return waitFor(context, reeve, record.pid)
  if (print.isJson) print.json(record)
  else print.line(record.pid)
  return 0
}

function inputFrom(text: string | undefined) {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text === '-' ? readFileSync(0, 'utf8') : text)
  } catch {
    throw new UsageError(
      'The input of a workflow must be JSON.',
      `Quote it for the shell: '{"title":"News"}', '"a text"', 42`,
    )
  }
}

async function hintIfUnserved({ print }: Context<Options>, reeve: ReeveVerbs, name: string): Promise<void> {
  const { workflows } = await reeve.workflows()
  if (workflows.some((served) => served.name === name)) return
  const names = workflows.map((served) => served.name)
  print.aside(
    `No program serves the workflow ${name} now. The process waits for one that does: reeve.workflow('${name}', …).${didYouMean(name, names)}`,
  )
}

async function waitFor(
  { options, print }: Context<Options>,
  reeve: ReeveVerbs,
  pid: string,
): Promise<number> {
  const by = Date.now() + (options.timeout ?? Number.POSITIVE_INFINITY)
  for (;;) {
    const timeoutMs = Math.max(0, Math.min(DAY_MS, by - Date.now()))
    const waited = await reeve.wait({ pid, timeoutMs })
    if (waited.type === 'timed_out' && Date.now() < by) continue
    if (waited.type !== 'ended') {
      print.aside(`${pid} has not ended; reeve workflow show ${pid} shows how far it is.`)
      return TIMED_OUT
    }
    const { record } = waited
    if (print.isJson) print.json(record)
    else if (record.outcome?.status === 'completed') print.line(JSON.stringify(record.outcome.result))
    else print.aside(`${pid} ${statusText(record)}`)
    return exitCodeOf(record)
  }
}

async function list(context: Context<Options>): Promise<number> {
  const { options, print } = context
  const reeve = await context.acting()
  const found = await listProcesses(reeve, { kind: ['workflow'], ...(options.all ? { status: 'any' } : {}) })
  if (print.isJson) {
    print.jsonList(found)
    return 0
  }
  const steps: number[] = []
  for (let at = 0; at < found.length; at += MAX_REQUESTS) {
    const some = found.slice(at, at + MAX_REQUESTS).map(({ record }) => stepsBehind(reeve, record))
    steps.push(...(await Promise.all(some)))
  }
  const now = Date.now()
  const { blue, dim } = print.colours
  print.table(
    [
      { title: 'PID' },
      { title: 'WORKFLOW', shrinks: true },
      { title: 'STEPS', align: 'right' },
      { title: 'STATUS', shrinks: true },
      { title: 'STARTED' },
      { title: 'NAME', flexible: true },
    ],
    found.map(({ record }, at) => [
      { text: record.pid, paint: blue },
      { text: String(record.spec['workflow']) },
      { text: String(steps[at] ?? 0) },
      { text: progressText(record) },
      { text: ago(record.createdAt, now), paint: dim },
      { text: record.name ?? '' },
    ]),
  )
  const { workflows } = await reeve.workflows()
  if (workflows.length === 0) print.aside('No program serves a workflow now.')
  else print.aside(`Served now: ${workflows.map(({ name }) => name).join(', ')}.`)
  return 0
}

async function show(context: Context<Options>, [given, ...more]: readonly string[]): Promise<number> {
  const { print } = context
  if (given === undefined || more.length > 0)
    throw new UsageError('reeve workflow show takes one process.', 'For example: p_7k3m')
  const reeve = await context.acting()
  const record = await reeve.show({ pid: given })
  if (record.kind !== 'workflow')
    throw new UsageError(
      `${record.pid} is a ${record.kind}, and has no steps.`,
      `Try reeve show ${record.pid}.`,
    )
  const steps = await stepsOf(reeve, record.pid)
  if (print.isJson) {
    print.json({ record, steps })
    return 0
  }
  print.facts([
    ['pid', record.pid],
    ['workflow', String(record.spec['workflow'])],
    ['status', progressText(record)],
    ['started', record.firstStarted === null ? undefined : clockTime(record.firstStarted.at)],
    ['reason', record.outcome?.reason ?? undefined],
    ['result', record.outcome === null ? undefined : JSON.stringify(record.outcome.result)],
  ])
  if (steps.length === 0) return 0
  print.line()
  const { dim, cyan } = print.colours
  print.table(
    [
      { title: '#', align: 'right' },
      { title: 'KIND' },
      { title: 'NAME' },
      { title: 'BEGAN' },
      { title: 'TOOK', align: 'right' },
      { title: 'RESULT', flexible: true },
    ],
    steps.map((step) => [
      { text: String(step.stepIndex), paint: dim },
      { text: step.kind },
      { text: step.name, paint: cyan },
      { text: clockTime(step.began), paint: dim },
      { text: step.ended === null ? '' : shortTime(step.ended - step.began) },
      { text: resultText(step) },
    ]),
  )
  return 0
}

function resultText({ error, value, tries, ended, retryAt }: Step): string {
  const again = tries > 1 ? ` (try ${tries})` : ''
  if (error !== null) {
    const next = ended === null && retryAt !== null ? `; again ${clockTime(retryAt)}` : ''
    return `failed${again}: ${error}${next}`
  }
  if (ended === null) return 'running'
  return `${value === undefined ? '' : JSON.stringify(value)}${again}`
}
