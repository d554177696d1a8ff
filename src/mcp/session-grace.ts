import type { OutputOf, ReeveVerbs } from '../verbs/reeve.ts'
import { MCP_SESSION } from './session-id.ts'

/** The default of `graceMs`. */
export const SESSION_GRACE_MS = 60 * 60 * 1_000
const MAX_INTERVAL_MS = 60_000
const PAGE = 1_000

export interface GraceClock {
  now(): number
  /** Calls `act` periodically, until the returned function is called. */
  every(ms: number, act: () => void): () => void
}

export interface GraceOptions {
  /** How long a session lives without a client. 0: until it is ended explicitly. */
  readonly graceMs?: number
  readonly clock?: GraceClock
  readonly onTrouble?: (error: unknown) => void
}

export interface Grace {
  /** Resolves when the running check is done. */
  settled(): Promise<void>
  close(): Promise<void>
}

type Session = OutputOf<'sessions'>['sessions'][number]

/**
 * Ends MCP sessions whose clients have been away for longer than the grace; their inboxes list the stopped processes. Time
 * in which no client could connect (no daemon, a suspended machine) does not count. A session whose request waits for a person
 * stays: its client may be closed because there is nothing else to do.
 */
export function endIdleSessions(reeve: ReeveVerbs, options: GraceOptions = {}): Grace {
  const { graceMs = SESSION_GRACE_MS, clock = REAL_CLOCK, onTrouble = () => {} } = options
  if (graceMs === 0) return { settled: async () => {}, close: async () => {} }
  const intervalMs = Math.max(1, Math.min(MAX_INTERVAL_MS, Math.floor(graceMs / 4)))
  let listeningSince = clock.now()
  let checkedAt = listeningSince
  let checking: Promise<void> | undefined
  /** When a session was last seen to wait for a person: the grace begins again with the answer. */
  const askedAt = new Map<string, number>()

  const check = async () => {
    const now = clock.now()
    if (now - checkedAt > 2 * intervalMs || now < checkedAt) listeningSince = now
    checkedAt = now
    const idle = await idleSessions(reeve, { graceMs, now, listeningSince })
    const asking =
      idle.length === 0 ? new Set<string>() : await withSessionsAbove(reeve, await askingSessions(reeve))
    for (const [id, at] of askedAt) if (!asking.has(id) && now - at >= graceMs) askedAt.delete(id)
    for (const id of asking) askedAt.set(id, now)
    for (const { id } of idle) if (!askedAt.has(id)) await reeve.endSession({ session: id })
  }
  const stop = clock.every(intervalMs, () => {
    checking ??= check()
      .catch(onTrouble)
      .finally(() => {
        checking = undefined
      })
  })
  const settled = async () => {
    await checking
  }
  return {
    settled,
    close() {
      stop()
      return settled()
    },
  }
}

/** The sessions that have asked a person, and have no answer yet. */
async function askingSessions(reeve: Pick<ReeveVerbs, 'approvals'>): Promise<ReadonlySet<string>> {
  const asking = new Set<string>()
  for (let after: number | null = null; ; ) {
    const page: OutputOf<'approvals'> = await reeve.approvals({
      state: 'pending',
      ...(after === null ? {} : { after }),
      limit: PAGE,
    })
    for (const { request } of page.approvals) if (request.session !== null) asking.add(request.session)
    after = page.next
    if (after === null) return asking
  }
}

/** A session that ends ends those below it, and withdraws their requests. */
async function withSessionsAbove(
  reeve: Pick<ReeveVerbs, 'sessions'>,
  asking: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const all = new Set(asking)
  if (asking.size === 0) return all
  for (let after: string | undefined; ; ) {
    const { sessions }: OutputOf<'sessions'> = await reeve.sessions({
      ...(after === undefined ? {} : { after }),
      limit: PAGE,
    })
    for (const { id, sessionsAbove = [] } of sessions)
      if (asking.has(id)) for (const above of sessionsAbove) all.add(above)
    after = sessions.at(-1)?.id
    if (after === undefined || sessions.length < PAGE) return all
  }
}

/** The open MCP sessions that no client has touched for longer than the grace. */
export async function idleSessions(
  reeve: Pick<ReeveVerbs, 'sessions'>,
  { graceMs, now, listeningSince = 0 }: { graceMs: number; now: number; listeningSince?: number },
): Promise<Session[]> {
  const idle: Session[] = []
  let after = MCP_SESSION
  for (;;) {
    const { sessions } = await reeve.sessions({ after, limit: PAGE })
    for (const session of sessions) {
      const isMcp = session.id.startsWith(MCP_SESSION)
      const lastSeen = Math.max(session.touchedAt, listeningSince)
      if (isMcp && session.endedAt === null && now - lastSeen >= graceMs) idle.push(session)
    }
    const last = sessions.at(-1)
    if (last === undefined || sessions.length < PAGE || !last.id.startsWith(MCP_SESSION)) return idle
    after = last.id
  }
}

const REAL_CLOCK: GraceClock = {
  now: () => Date.now(),
  every(ms, act) {
    const timer = setInterval(act, ms)
    timer.unref()
    return () => clearInterval(timer)
  },
}
