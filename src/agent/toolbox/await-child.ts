import type { Pid } from '../../core/process/pid.ts'
import { hasEnded, type ProcessRecord } from '../../core/process/record.ts'
import type { Work } from '../../kernel/executor.ts'
import type { Kernel } from '../../kernel/kernel.ts'

export interface ChildWait {
  readonly signal: AbortSignal
  /** How long it may run before the wait is over; null: until it ends. The time of a pending approval does not count. */
  readonly runMs: number | null
}

/**
 * Waits for a child of a tool call, as a wait of the call's process, so that the child's end makes no notice. Returns the child's record:
 * ended, or still running after `runMs`. A later attempt of the call waits for the same child.
 */
export async function awaitChild(
  kernel: Kernel,
  work: Work,
  pid: Pid,
  { signal, runMs }: ChildWait,
): Promise<ProcessRecord> {
  const wait = { on: 'child', name: pid, ordinal: 1 } as const
  const entered = await kernel.performAs(work, { type: 'enter_wait', wait, until: null })
  const record = await untilEnded(kernel, work, pid, { signal, runMs })
  if (entered.type !== 'replayed') {
    const how = hasEnded(record) ? 'ended' : 'timed_out'
    await kernel.performAs(work, { type: 'leave_wait', wait, how, value: null })
  }
  // An end before the wait was left makes no notice: it is in the result. A later end is told to the agent.
  return hasEnded(record) ? record : readRecord(kernel, pid)
}

async function readRecord(kernel: Kernel, pid: Pid): Promise<ProcessRecord> {
  const row = await kernel.edges.store.ask({ ask: 'process', pid })
  if (row === null) throw new Error(`${pid} is gone`)
  return row.record
}

async function untilEnded(
  kernel: Kernel,
  work: Work,
  pid: Pid,
  { signal, runMs }: ChildWait,
): Promise<ProcessRecord> {
  const { clock } = kernel.edges
  for (;;) {
    const record = await readRecord(kernel, pid)
    const startedAt = record.firstStarted?.at
    const leftMs = runMs === null ? null : startedAt === undefined ? runMs : startedAt + runMs - clock.now()
    if (hasEnded(record) || (leftMs !== null && leftMs <= 0)) return record
    const timeout = leftMs === null ? {} : { timeoutMs: leftMs }
    const waited = await kernel.waits.forEnd(pid, { signal, waiter: work, ...timeout })
    if (waited.type === 'interrupted') throw signal.reason
  }
}
