import type { OutputPiece, ReeveVerbs } from '../../verbs/reeve.ts'
import { restartedAs } from '../print/asked-for.ts'
import { type ProcessRecord, statusText } from '../print/status.ts'

/** How many restarts are followed: a restart policy has a limit, but processes that run long reset it. */
const MAX_RESTARTS = 1_000_000

/** What one process prints, of several that its restart policy started one after the other. */
export interface FollowedLog {
  readonly pid: string
  readonly pieces: AsyncIterable<OutputPiece>
}

/** The output of a process as it comes; then that of the one that was started in its place. `said` hears of each restart. */
export async function* followRestarts(
  reeve: ReeveVerbs,
  first: string,
  { from, reveal, said }: { readonly from: number; readonly reveal: boolean; said(text: string): void },
): AsyncGenerator<FollowedLog, void, void> {
  let pid = first
  for (let count = 0; count < MAX_RESTARTS; count++) {
    yield { pid, pieces: reeve.followOutput({ pid, offset: count === 0 ? from : 0, reveal }) }
    const record = await reeve.show({ pid })
    const next = restartedAs(record)
    if (next === undefined) return
    said(restarted(record, next))
    pid = next
  }
}

function restarted(record: ProcessRecord, next: string): string {
  return `${record.name ?? record.pid} has ended (${statusText(record)}), and was started again, as ${next}.`
}
