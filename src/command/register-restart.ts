import { usedByCommand } from '../core/allowance/used-by-command.ts'
import { RefusedError } from '../core/errors.ts'
import type { Ending } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { RESTART_LIMIT, restartDelay, STEADY_MS } from '../core/process/restart-policy.ts'
import { restartRequest } from '../core/process/restart-request.ts'
import type { Lost } from '../kernel/executor.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { commandSpecOf } from './command-spec.ts'

/** The process that follows one that has ended, or why there is none. */
export type Restart = { readonly pid: Pid } | { readonly refused: string }

/**
 * Registers the process that follows this one, if its restart policy says so. It does so before the end is written, under a pid
 * that is derived from the old one: a daemon that dies in between meets the same end again, and registers no second process.
 * Null: the policy asks for no restart.
 */
export async function registerRestart(
  record: ProcessRecord,
  ending: Ending | Lost,
  kernel: Kernel,
): Promise<Restart | null> {
  const { restart } = commandSpecOf(record)
  if (restart === undefined || restartDelay(restart, ending.status, 0) === null) return null
  const { edges } = kernel
  const endedAt = ('endedAt' in ending ? ending.endedAt : undefined) ?? edges.clock.now()
  const limit = restart.limit ?? RESTART_LIMIT
  const before = isSteady(record, endedAt) ? 0 : await restartsBefore(record, kernel, limit)
  const delayMs = restartDelay(restart, ending.status, before)
  if (delayMs === null) return { refused: `the limit for restarts in a row (${limit}) is reached` }
  const parent = record.parent === null ? null : await edges.store.ask({ ask: 'process', pid: record.parent })
  const request = { ...restartRequest(record, parent?.record ?? null), notBefore: endedAt + delayMs }
  const former = await formerSuccessor(record, kernel)
  if (former !== null) return { pid: former }
  const pid = await edges.pidForKey(RESTARTER, `restart of ${record.pid}`)
  const used = usedByCommand(record.kind, 'result' in ending ? ending.result : undefined)
  try {
    await kernel.register([
      { request, actor: `kernel:${kernel.id}`, pid, restarts: { pid: record.pid, used } },
    ])
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error
    // The process is registered already, with another time to begin.
    if ((await edges.store.ask({ ask: 'process', pid })) !== null) return { pid }
    if (!NOTHING_TO_START.includes(error.code)) edges.onTrouble(error, `restarting ${record.pid}`)
    return { refused: error.message }
  }
  return { pid }
}

/** No caller has this name, so that no caller's idempotency key gives the same pid. */
const RESTARTER = 'kernel:restart'

/** Version 0.1 gave restarts predictable pids: such a process counts only if a kernel registered it. */
async function formerSuccessor({ pid }: ProcessRecord, { edges }: Kernel): Promise<Pid | null> {
  const row = await edges.store.ask({ ask: 'process', pid: edges.pidOf(`restart of ${pid}`) })
  if (row === null || row.record.restartOf !== pid) return null
  return row.record.originator.startsWith('kernel:') ? row.record.pid : null
}

/** The owner of the process has ended, or the restart is registered already: no trouble to report. */
const NOTHING_TO_START: readonly string[] = [
  'conflict',
  'pruned_pid',
  'already_ended',
  'stopping',
  'session_ended',
  'session_unknown',
  'turn_ended',
  'turn_unknown',
  'lifetime_without_scope',
]

async function restartsBefore(record: ProcessRecord, kernel: Kernel, most: number): Promise<number> {
  let count = 0
  for (let at = record.restartOf; at !== null && count < most; count++) {
    const row = await kernel.edges.store.ask({ ask: 'process', pid: at })
    if (row === null || isSteady(row.record, row.record.outcome?.endedAt ?? 0)) return count + 1
    at = row.record.restartOf
  }
  return count
}

function isSteady({ firstStarted }: ProcessRecord, endedAt: number): boolean {
  return firstStarted !== null && endedAt - firstStarted.at >= STEADY_MS
}
