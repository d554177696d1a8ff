import { setTimeout as sleep } from 'node:timers/promises'
import type { OutputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import { requireProcesses } from '../arguments.ts'
import { exitCodeOf, FAILED, OWN_ERROR, TIMED_OUT } from '../exit-code.ts'
import { neutralLine } from '../print/neutral.ts'
import { readyWhen, restartedAs } from '../print/start-options.ts'
import { statusText } from '../print/status.ts'
import { onOneLine } from '../print/table.ts'
import { shortTime } from '../print/times.ts'
import { subcommand } from '../subcommand.ts'
import { UsageError } from '../usage-error.ts'

/** The longest wait of one request; a longer wait is several requests. */
const DAY_MS = 24 * 60 * 60 * 1_000

export const wait = subcommand({
  name: 'wait',
  summary: 'Waits until processes end, and exits with their code; or until one is ready or prints a line',
  usage: ['wait [options] <process>…'],
  completes: 'process',
  failure: OWN_ERROR,
  options: {
    timeout: { type: 'duration', short: 't', about: 'how long to wait; exit code 124 on a timeout' },
    until: {
      type: 'text',
      value: 'text',
      about: 'until it prints a line with this text; earlier output counts',
    },
    ready: { type: 'flag', about: 'until it is ready, by the check of reeve run --ready' },
    pattern: { type: 'text', value: 'RE2', about: 'until it prints a line that matches this pattern' },
  },
  about: `
The exit code is that of the command; 128 + n if a signal ended it; 125 if the end was not observed, or Reeve failed; 1 if the
command ended with 0 and never printed the line. For several processes it is the first code that is not 0, in the given order.`,
  examples: [
    ['reeve wait build && reeve run -- ./deploy', 'deploy if the build succeeded'],
    ['reeve wait web --until "listening on" -t 30s', 'until it prints a line'],
    ['reeve wait web --ready && open http://localhost:5173', 'until it is ready'],
  ],
  async run(context) {
    const { options, print } = context
    const { until: text, pattern, timeout } = options
    const pids = requireProcesses(context, { name: 'wait' })
    if ([text !== undefined, pattern !== undefined, options.ready].filter(Boolean).length > 1)
      throw new UsageError('--until, --pattern and --ready exclude each other.', 'Give one of them.')
    const reeve = await context.acting()
    const by = Date.now() + (timeout ?? Number.POSITIVE_INFINITY)
    const until = options.ready
      ? { ready: true as const }
      : text === undefined
        ? pattern === undefined
          ? {}
          : { until: { pattern } }
        : { until: { text } }
    const waitOn = async (pid: string): Promise<OutputOf<'wait'>> => {
      while (true) {
        const left = Math.max(0, Math.min(DAY_MS, by - Date.now()))
        const waited = await reeve.wait({ pid, timeoutMs: left, ...until })
        if (waited.type !== 'timed_out' || Date.now() >= by) return waited
        await sleep(0)
      }
    }
    const answers = await Promise.all(pids.map(waitOn))
    if (print.isJson) print.jsonList(answers)
    else for (const answer of answers) for (const line of said(answer, answers.length > 1)) print.line(line)
    const sought = options.ready ? 'become ready' : (text ?? pattern) && `printed ${text ?? pattern}`
    const wanted = text !== undefined || pattern !== undefined || options.ready
    for (const answer of answers) {
      const why =
        answer.type === 'not_ready' ? await whyNotReady(reeve, answer.record) : whyUnmet(answer, sought)
      if (why !== undefined) print.aside(why)
      if (answer.type !== 'ended') continue
      const next = restartedAs(answer.record)
      if (next !== undefined)
        print.aside(`${nameOf(answer.record)} was started again as ${next}: reeve wait ${next} waits for it.`)
    }
    return answers.map((answer) => codeOf(answer, wanted)).find((code) => code !== 0) ?? 0
  },
})

/** A wait for a line or for readiness fails if that did not happen, even if the process ended with 0. */
function codeOf(answer: OutputOf<'wait'>, lineWanted: boolean): number {
  if (answer.type === 'timed_out') return TIMED_OUT
  if (answer.type === 'ended') return exitCodeOf(answer.record) || (lineWanted ? FAILED : 0)
  if (answer.type === 'not_ready') return TIMED_OUT
  return answer.type === 'interrupted' ? OWN_ERROR : 0
}

/** Why a wait was not met: a timeout, or the process ended without `sought`. */
function whyUnmet(answer: OutputOf<'wait'>, sought: string | undefined): string | undefined {
  if (answer.type === 'timed_out') return `${nameOf(answer.record)} has not ${sought ?? 'ended'} in time.`
  if (answer.type !== 'ended' || sought === undefined) return undefined
  return `${nameOf(answer.record)} is ${statusText(answer.record)}, and has not ${sought}.`
}

/** The record says that the process was not ready in time; an event says how the last check failed. */
async function whyNotReady(reeve: ReeveVerbs, record: OutputOf<'show'>): Promise<string> {
  const { pid, spec } = record
  const heard = await reeve.waitFor({ pid, types: ['ready_timed_out'], after: 0, timeoutMs: 0 })
  const { timeoutMs, last } = Object(heard.type === 'heard' ? heard.event?.payload : {}) as {
    readonly timeoutMs?: number
    readonly last?: string
  }
  const time = timeoutMs === undefined ? 'in time' : `within ${shortTime(timeoutMs)}`
  const how = last === undefined ? '' : ` The last check: ${last}.`
  return onOneLine(
    `${nameOf(record)} was not ready ${time}: it is ready when ${readyWhen(spec)}.${how} It goes on running.`,
  )
}

function nameOf({ name, pid }: OutputOf<'show'>): string {
  return name ?? pid
}

/** The line that was waited for; of several processes, the status of each. */
function said(answer: OutputOf<'wait'>, several: boolean): string[] {
  if (answer.type === 'matched') return [neutralLine(answer.line.text)]
  if (answer.type === 'interrupted' || !several) return []
  return [`${nameOf(answer.record)}  ${statusText(answer.record)}`]
}
