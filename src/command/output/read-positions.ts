import { outputStart, type Reader, sessionOutputPosition } from '../../core/inbox/readers.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import type { Cursors } from './cursors.ts'

/** Who polls: an actor, and one of its readers if it has several. */
export interface Poller {
  readonly actor: string
  readonly reader: Reader | null
}

/** The offset from which on the next poll reads. */
export async function positionOf(
  cursors: Cursors,
  { pid, createdAt }: ProcessRecord,
  { actor, reader }: Poller,
): Promise<number> {
  const own = reader === null ? null : await cursors.getReader(pid, actor, reader.id)
  return outputStart({ own, session: await cursors.get(pid, actor), reader, createdAt })
}

/** The poller has read up to this offset. */
export async function movePosition(
  cursors: Cursors,
  { pid }: ProcessRecord,
  { actor, reader }: Poller,
  offset: number,
): Promise<void> {
  if (reader !== null) await cursors.setReader(pid, actor, reader.id, offset)
  const session = await cursors.get(pid, actor)
  const moved = sessionOutputPosition(session, offset, reader)
  if (moved !== session) await cursors.set(pid, actor, moved)
}
