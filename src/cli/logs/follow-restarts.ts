import type { OutputPiece } from '../../verbs/attachment.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import { restartedAs } from '../print/start-options.ts'
import { type ProcessRecord, statusText } from '../print/status.ts'

/** How many restarts are followed. A restart policy has a limit of its own, but a process that runs long resets it. */
const MAX_RESTARTS = 1_000_000

/** The output of one process in a chain of restarts. */
export interface FollowedLog {
  readonly pid: string
  readonly pieces: AsyncIterable<OutputPiece>
}

/** Follows the output of a process, then that of each restart. `onRestart` gets a message for each. */
export async function* followRestarts(
  reeve: ReeveVerbs,
  first: string,
  {
    from,
    reveal,
    onRestart,
  }: { readonly from: number; readonly reveal: boolean; onRestart(message: string): void },
): AsyncGenerator<FollowedLog, void, void> {
  let pid = first
  for (let count = 0; count < MAX_RESTARTS; count++) {
    yield { pid, pieces: reeve.followOutput({ pid, offset: count === 0 ? from : 0, reveal }) }
    const record = await reeve.show({ pid })
    const next = restartedAs(record)
    if (next === undefined) return
    onRestart(restarted(record, next))
    pid = next
  }
}

function restarted(record: ProcessRecord, next: string): string {
  return `${record.name ?? record.pid} has ended (${statusText(record)}), and was started again as ${next}.`
}
