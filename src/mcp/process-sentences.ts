import type { ProcessView } from './process-view.ts'

/** For an older end the sentence says how long ago it was. */
const LONG_AGO_MS = 60_000

/** One line about the status or the end of a process, and its error message below. */
export function describeProcess(process: ProcessView, now = Date.now()): string {
  const { pid, name, what, message, ranInstead } = process
  const called = name === null ? pid : `${pid} (${name})`
  const trouble = message === null ? '' : `\n${message.trim()}`
  const edited = ranInstead === null ? '' : ` [approved with changes; ran instead: ${firstLine(ranInstead)}]`
  return `${called} ${stateOf(process, now)}: ${firstLine(what)}${edited}${trouble}`
}

/** OS processes that a command left running belong to it: the same tool ends them. */
export function leftBehindNote({ leftBehind, pid }: ProcessView): string[] {
  if (leftBehind === 0) return []
  const were = counted(leftBehind, 'child process was', 'child processes were')
  return [
    `When it ended, ${were} still running in the background; process_kill with pid ${pid} ends them, process_poll shows their output.`,
  ]
}

function stateOf(process: ProcessView, now: number): string {
  const { status, exitCode, signal, reason, startedAt, endedAt } = process
  if (endedAt === null) {
    if (process.approval !== null) return approvalWait(process, now)
    if (status === 'running' && startedAt !== null) return `has been running for ${duration(now - startedAt)}`
    return status === 'queued' ? startText(process, now) : `is ${status}`
  }
  const took = startedAt === null ? '' : ` after ${duration(endedAt - startedAt)}`
  const ago = now - endedAt < LONG_AGO_MS ? '' : `, ${duration(now - endedAt)} ago`
  const how = exitCode !== null ? `exit code ${exitCode}` : signal
  const details = [how, reason].filter((detail) => detail !== null).join(', ')
  return `${status}${details === '' ? '' : ` (${details})`}${took}${ago}${restartText(process)}`
}

function approvalWait({ approval, askedAt, isQuestion }: ProcessView, now: number): string {
  const asked = askedAt === null ? '' : `, asked ${duration(now - askedAt)} ago`
  return `waits for the ${isQuestion ? 'reply' : 'approval'} of a person (${approval}${asked})`
}

/** The status `ready` means that it may be started. A model would read it as ready for use. */
function startText({ startsAt }: ProcessView, now: number): string {
  if (startsAt === null) return 'has not started yet'
  return startsAt > now ? `starts again in ${duration(startsAt - now)}` : 'is about to start again'
}

function restartText({ restartedAs, notRestarted }: ProcessView): string {
  if (restartedAs !== null) return `, restarted as ${restartedAs}`
  return notRestarted === null ? '' : `, not restarted (${notRestarted})`
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  const seconds = ms / 1_000
  if (seconds < 10) return `${Number(seconds.toFixed(1))} s`
  if (seconds < 100) return `${Math.round(seconds)} s`
  if (seconds < 100 * 60) return `${Math.round(seconds / 60)} min`
  return `${Math.round(seconds / 3_600)} h`
}

export function firstLine(text: string, most = 120): string {
  const [line = ''] = text.split('\n', 1)
  const isWhole = line.length === text.length && line.length <= most
  return isWhole ? line : `${line.slice(0, most)}…`
}

/** `1 line matches`, `3 lines match`: the verb agrees with the number. */
export function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}
