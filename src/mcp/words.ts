import type { ProcessView } from './process-view.ts'

/** One line on where a process is or how it ended, for the model to read. */
export function sentenceOn(process: ProcessView, now = Date.now()): string {
  const { pid, name, what } = process
  const called = name === null ? pid : `${pid} (${name})`
  const trouble = process.message === null ? '' : ` ${process.message}`
  return `${called} ${stateOf(process, now)}: ${firstLine(what)}${trouble === '' ? '' : `\n${trouble.trim()}`}`
}

function stateOf(process: ProcessView, now: number): string {
  const { status, exitCode, signal, reason, startedAt, endedAt } = process
  if (endedAt === null) {
    if (status === 'running' && startedAt !== null) return `has been running for ${duration(now - startedAt)}`
    return `is ${status}`
  }
  const took = startedAt === null ? '' : ` after ${duration(endedAt - startedAt)}`
  const how = exitCode !== null ? `exit code ${exitCode}` : signal !== null ? signal : null
  const why = reason === null ? null : reason
  const details = [how, why].filter((detail) => detail !== null).join(', ')
  return `${status}${details === '' ? '' : ` (${details})`}${took}`
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
