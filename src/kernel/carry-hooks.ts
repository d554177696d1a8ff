import { endedTurnsOf } from '../core/agent/owed-hooks.ts'
import type { Pid } from '../core/process/pid.ts'
import { hasEnded, type ProcessRecord } from '../core/process/record.ts'
import { carryOf, childCarryOf, hooksFromOf, type ProcessRow } from '../core/process/row.ts'
import { know } from '../store/contract.ts'
import type { Edges } from './edges.ts'

/**
 * Starts the hooks of an agent for the ends of its turns from `from` on, and for its own end, each once however often it is called. It
 * resolves when they are registered, not when they have run. False: another program has to start them.
 */
export type StartEndHooks = (agent: ProcessRecord, from: number) => Promise<boolean>

/**
 * Carries ends to hooks. The mark is written with the end and removed when the hooks are registered: after a crash in between the next
 * sweep goes on. A program without commands starts none.
 */
export async function carryToHooks(edges: Edges, pid: Pid, start: StartEndHooks | undefined): Promise<void> {
  for (;;) {
    const row = await edges.store.ask({ ask: 'process', pid })
    const from = hooksFromOf(row?.carry ?? null)
    if (row === null || from === null) return
    if (start !== undefined && !(await start(row.record, from))) return
    if (await unmark(edges, row)) return
  }
}

/** What has ended since is still to be carried: then it returns false, and the mark goes on behind what was. */
function unmark(edges: Edges, seen: ProcessRow): Promise<boolean> {
  return edges.store.write(function* () {
    const row = yield* know({ ask: 'process', pid: seen.record.pid })
    // Another kernel has carried it.
    if (row === null || hooksFromOf(row.carry) !== hooksFromOf(seen.carry))
      return { answer: false, changes: [] }
    const isDone =
      endedTurnsOf(row.record) === endedTurnsOf(seen.record) && hasEnded(row.record) === hasEnded(seen.record)
    const carry = carryOf(childCarryOf(row.carry), isDone ? null : endedTurnsOf(seen.record) + 1)
    return {
      answer: isDone,
      changes: [{ type: 'process', was: row, row: { ...row, carry }, events: [] }],
    }
  })
}
