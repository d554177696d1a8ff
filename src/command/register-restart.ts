import { usedByCommand } from '../core/allowance/used-by-command.ts'
import { RefusedError } from '../core/errors.ts'
import type { Ending } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { RESTART_LIMIT, restartDelay, STEADY_MS } from '../core/process/restart.ts'
import { restartRequest } from '../core/process/restart-request.ts'
import type { Lost } from '../kernel/executor.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { commandSpecOf } from './command-spec.ts'

/** Which process follows one that has ended, where its policy asks for one; or why none does. */
export type Restart = { readonly pid: Pid } | { readonly refused: string }

/**
 * Registers the process that follows this one, where its policy says so: before its end is written, under a pid that follows
 * from its own. So a daemon that dies in between comes upon the same end again, and makes no second one. Null: nobody asked
 * for one.
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
    // It is there already, and was to begin at another time.
    if ((await edges.store.ask({ ask: 'process', pid })) !== null) return { pid }
    if (!NOTHING_TO_START.includes(error.code)) edges.onTrouble(error, `restarting ${record.pid}`)
    return { refused: error.message }
  }
  return { pid }
}

/** No caller has this name, so that nobody's idempotency key gives the same pid. */
const RESTARTER = 'kernel:restart'

/** Version 0.1 gave successors pids that anybody could work out: one counts only if a kernel registered it. */
async function formerSuccessor({ pid }: ProcessRecord, { edges }: Kernel): Promise<Pid | null> {
  const row = await edges.store.ask({ ask: 'process', pid: edges.pidOf(`restart of ${pid}`) })
  if (row === null || row.record.restartOf !== pid) return null
  return row.record.originator.startsWith('kernel:') ? row.record.pid : null
}

/** What it belongs to has ended, or it is there already: then there is nothing to start, and nothing to say. */
const NOTHING_TO_START: readonly string[] = [
  ...['conflict', 'pruned_pid', 'already_ended', 'stopping'],
  ...['session_ended', 'session_unknown', 'turn_ended', 'turn_unknown', 'lifetime_without_scope'],
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
