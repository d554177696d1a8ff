import type { Acting, OutputOf } from '../verbs/reeve.ts'

export type Notice = OutputOf<'notices'>['notices'][number]

const PAGE = 1_000

/** The last of what a session was told; inboxes are read in pages, from the oldest on. */
export async function newestNotices(acting: Acting, session: string, limit: number): Promise<Notice[]> {
  let last: Notice[] = []
  for (let after = 0; ; ) {
    const { notices } = await acting.notices({ scope: `session:${session}`, after, limit: PAGE })
    last = [...last, ...notices].slice(-limit)
    if (notices.length < PAGE) return last
    after = notices.at(-1)?.place ?? after
  }
}
