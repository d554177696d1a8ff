import type { OutputOf } from '../../verbs/reeve.ts'
import { FAILED } from '../exit-code.ts'

type StopReport = Omit<OutputOf<'interrupt'>, 'unrecorded'> & {
  readonly asked?: readonly string[]
  /** Daemons of earlier versions don't say. */
  readonly unrecorded?: readonly string[]
}

/** The outcome of a stop of many processes: counts first, then each failure. */
export function reportText(report: StopReport, done: string): string[] {
  const counts: readonly (readonly [number, string])[] = [
    [report.signalled.length, done],
    [report.alreadyEnded.length, 'had ended already'],
    [report.asked?.length ?? 0, 'asked to end'],
    [report.unrecorded?.length ?? 0, 'stopped, recorded when the store can be written'],
    [report.recorded?.length ?? 0, 'recorded: Reeve cannot reach them'],
    [report.stale.length, 'silent: unknown whether they still run'],
    [report.failed.length, 'failed'],
  ]
  const said = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)
  const head = `${report.matched} matched${said.length === 0 ? '' : `: ${said.join(', ')}`}`
  return [head, ...report.failed.map(({ pid, message }) => `  ${pid}  ${message}`)]
}

export function reportCode({ failed, stale }: StopReport): number {
  return failed.length + stale.length > 0 ? FAILED : 0
}
