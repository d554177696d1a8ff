import type { TypedEvent } from '../core/process/event.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Reeve } from '../verbs/reeve.ts'

export async function readLog(reeve: Reeve): Promise<TypedEvent[]> {
  const log: TypedEvent[] = []
  for (;;) {
    const { events } = await reeve.changes({ after: log.at(-1)?.position ?? 0, limit: 1_000 })
    if (events.length === 0) return log
    log.push(...events)
  }
}

export async function readRecords(reeve: Reeve): Promise<ProcessRecord[]> {
  const { processes } = await reeve.list({ filter: { status: 'any' }, limit: 1_000 })
  return processes.map(({ record }) => record)
}

/** The kernels that executed a process, in order; for a command, its exit code. */
export function ranIn(log: readonly TypedEvent[], own: string): (record: ProcessRecord) => string {
  const started = log.flatMap((event) =>
    event.type === 'started' ? [{ pid: event.pid, holder: event.payload.holder }] : [],
  )
  return ({ pid, kind, outcome }) => {
    if (kind === 'command') return `keeper, exit code ${outcome?.exitCode ?? 'unknown'}`
    return started
      .filter((event) => event.pid === pid)
      .map(({ holder }) => (holder === own ? 'here' : 'worker'))
      .join(', then ')
  }
}
