import type { Acting, ToldNotice } from '../verbs/reeve.ts'

/** The last of what a session was told, whether it was dealt with or not. */
export async function newestNotices(acting: Acting, session: string, limit: number): Promise<ToldNotice[]> {
  const { notices } = await acting.notices({ scope: `session:${session}`, all: true, newest: true, limit })
  return notices
}
