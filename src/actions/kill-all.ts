import { RefusedError } from '../core/errors.ts'
import type { Filter } from '../core/process/filter.ts'
import type { Pid } from '../core/process/pid.ts'
import { hasEnded, type ProcessRecord } from '../core/process/record.ts'
import { failureOf, mostUrgentFirst, performInPages, type StopReport, visible } from '../kernel/stop-scope.ts'
import { stopUnrecorded } from '../kernel/unrecorded-stop.ts'
import type { OutputOf } from '../verbs/reeve.ts'
import type { ActionParts } from './action.ts'
import type { AskedKill, Kills } from './kill.ts'

/** How many ends are waited for at once. */
const WAITS_AT_ONCE = 64

interface KillAllOptions {
  readonly reason: string
  readonly graceMs: number | undefined
}

/** Asks all processes before it waits for any end: a process that never answers does not delay the stop of another. */
export async function killAll(
  parts: ActionParts,
  kills: Kills,
  filter: Filter,
  { reason, graceMs }: KillAllOptions,
): Promise<OutputOf<'killAll'>> {
  const { kernel, actor } = parts
  const records = mostUrgentFirst(await visible(kernel.edges, actor, filter, Number.POSITIVE_INFINITY))
  const report: KillReport = {
    matched: records.length,
    signalled: [],
    asked: [],
    alreadyEnded: [],
    stale: [],
    unrecorded: [],
    failed: [],
  }
  const all: AskedKill[] = []
  const stopped = performInPages(
    kernel,
    records.map(({ pid }) => kills.intent(pid, reason, graceMs)),
  )
  for await (const { intent, performed } of stopped) {
    if (performed.type === 'refused')
      report.failed.push(failureOf(intent.pid, new RefusedError(performed.refusal)))
    else if (performed.type !== 'unwritten')
      all.push(kills.asked({ how: performed.type, record: performed.row.record }, graceMs))
    else
      await stopUnrecorded(kernel, intent, performed.error).then(
        (record) => all.push(kills.asked({ how: 'unrecorded', record }, graceMs)),
        (error: unknown) => report.failed.push(failureOf(intent.pid, error)),
      )
  }
  const reportOn = async (pid: Pid, ending: Promise<OutputOf<'kill'>>, lists: Lists) => {
    try {
      report[lists[(await ending).type]].push(pid)
    } catch (error) {
      report.failed.push(failureOf(pid, error))
    }
  }
  await someAtOnce(all, (one) => reportOn(one.record.pid, kills.awaitEnd(one), LISTS))
  const left = await leftBehind(parts, filter, records)
  report.matched += left.length
  await someAtOnce(left, ({ pid }) => reportOn(pid, kills.kill(pid, reason, graceMs), LISTS_OF_LEFT_BEHIND))
  return inOrderOf(report, [...records, ...left])
}

type KillReport = Omit<StopReport, 'recorded'> & { readonly asked: Pid[] }

/** The list of the report that a process is added to, by the answer to its kill. */
type Lists = Readonly<Record<OutputOf<'kill'>['type'], 'signalled' | 'asked' | 'alreadyEnded' | 'unrecorded'>>
const LISTS: Lists = {
  ended: 'signalled',
  asked: 'asked',
  already_ended: 'alreadyEnded',
  unrecorded: 'unrecorded',
}
/** The command had ended: the programs that it left running were signalled. */
const LISTS_OF_LEFT_BEHIND: Lists = { ...LISTS, already_ended: 'signalled' }

/** Ended commands that match the filter and have programs that still run. */
async function leftBehind(
  { kernel, actor, commands }: ActionParts,
  filter: Filter,
  killedAlready: readonly ProcessRecord[],
): Promise<ProcessRecord[]> {
  const known = new Set(killedAlready.map(({ pid }) => pid))
  const pids = (await commands?.leftovers()) ?? []
  const wanted = pids.filter((pid) => !known.has(pid) && (filter.pid?.includes(pid) ?? true))
  if (wanted.length === 0) return []
  const chosen = { ...filter, pid: wanted, status: filter.status ?? 'any' } as const
  return (await visible(kernel.edges, actor, chosen, Number.POSITIVE_INFINITY)).filter(hasEnded)
}

async function someAtOnce<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const next = items.values()
  const actOnSome = async () => {
    for (const item of next) await act(item)
  }
  await Promise.all(Array.from({ length: WAITS_AT_ONCE }, actOnSome))
}

/** Waits end in any order; the report lists processes in the order in which they were asked. */
function inOrderOf(report: KillReport, records: readonly ProcessRecord[]): KillReport {
  const indexes = new Map(records.map(({ pid }, index) => [pid, index]))
  const byIndex = (a: Pid, b: Pid) => (indexes.get(a) ?? 0) - (indexes.get(b) ?? 0)
  for (const pids of [report.signalled, report.asked, report.alreadyEnded, report.unrecorded])
    pids.sort(byIndex)
  report.failed.sort((a, b) => byIndex(a.pid, b.pid))
  return report
}
