import type { InboxNotice } from '../verbs/follow-calls.ts'
import type { ReeveVerbs } from '../verbs/reeve.ts'

/** The newest notices of a session, acknowledged or not. */
export async function newestNotices(
  acting: ReeveVerbs,
  session: string,
  limit: number,
): Promise<InboxNotice[]> {
  const { notices } = await acting.notices({ scope: `session:${session}`, all: true, newest: true, limit })
  return notices
}
