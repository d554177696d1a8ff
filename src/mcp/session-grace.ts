import type { OutputOf, ReeveVerbs } from '../verbs/reeve.ts'
import { MCP_SESSION } from './session-id.ts'

/** The default of `graceMs`. */
export const SESSION_GRACE_MS = 60 * 60 * 1_000
const MAX_BETWEEN_MS = 60_000
const PAGE = 1_000

export interface GraceClock {
  now(): number
  /** Calls again and again; what it answers with ends that. */
  every(ms: number, act: () => void): () => void
}

export interface GraceOptions {
  /** How long a session lives on without any client. 0: until somebody ends it. */
  readonly graceMs?: number
  readonly clock?: GraceClock
  readonly onTrouble?: (error: unknown) => void
}

export interface Grace {
  /** Resolves when the look that is under way is over. */
  settled(): Promise<void>
  close(): Promise<void>
}

type Session = OutputOf<'sessions'>['sessions'][number]

/**
 * Ends the sessions of MCP clients that were not there for the grace; what is stopped by that is in their inboxes. Time
 * in which no client could have been heard (no daemon, a machine that slept) does not count.
 */
export function endIdleSessions(reeve: ReeveVerbs, options: GraceOptions = {}): Grace {
  const { graceMs = SESSION_GRACE_MS, clock = REAL_CLOCK, onTrouble = () => {} } = options
  if (graceMs === 0) return { settled: async () => {}, close: async () => {} }
  const betweenMs = Math.max(1, Math.min(MAX_BETWEEN_MS, Math.floor(graceMs / 4)))
  let listeningSince = clock.now()
  let lookedAt = listeningSince
  let looking: Promise<void> | undefined

  const look = async () => {
    const now = clock.now()
    if (now - lookedAt > 2 * betweenMs || now < lookedAt) listeningSince = now
    lookedAt = now
    for (const { id } of await idleSessions(reeve, { graceMs, now, listeningSince }))
      await reeve.endSession({ session: id })
  }
  const stop = clock.every(betweenMs, () => {
    looking ??= look()
      .catch(onTrouble)
      .finally(() => {
        looking = undefined
      })
  })
  const settled = async () => {
    await looking
  }
  return {
    settled,
    close() {
      stop()
      return settled()
    },
  }
}

/** The open sessions of MCP clients that none of them has touched for longer than the grace. */
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
      const lastThere = Math.max(session.touchedAt, listeningSince)
      if (isMcp && session.endedAt === null && now - lastThere >= graceMs) idle.push(session)
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
