import type { Filter } from '../core/process/filter.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRow } from '../core/process/row.ts'
import type { Session, Turn } from '../core/session/session.ts'
import { carrySession, carryToChildren, carryToSessionsBelow, carryTurn, sessionCarried } from './carry.ts'
import { carryToHooks, type StartEndHooks } from './carry-hooks.ts'
import type { Edges } from './edges.ts'
import { strip } from './sessions.ts'

export interface SessionDeletionReport {
  readonly revoked: number
  readonly stopped: readonly Pid[]
  /** Live processes that woke this session, and now have no wake target. */
  readonly orphaned: readonly Pid[]
  /** Live processes of this session that go on, because their lifetime is not the session's. */
  readonly preserved: readonly Pid[]
  readonly noticesDropped: number
}

const PAGE = 500
/** How many stops and ends are carried on at once. */
const MAX_CARRIERS = 8

/** Carries stops and ends on, a few at a time: to children, to hooks, and to processes whose lifetime is a session or a turn. */
export class Carriers {
  readonly #edges: Edges
  readonly #self: string
  readonly #isOpen: () => boolean
  readonly #startEndHooks: StartEndHooks | undefined
  /** Processes whose stop or end waits for its turn to be carried on. */
  readonly #toCarry = new Set<Pid>()
  readonly #carrying = new Map<Pid, Promise<void>>()
  readonly #endingSessions = new Map<string, Promise<SessionDeletionReport>>()

  constructor(
    edges: Edges,
    self: string,
    options: { readonly isOpen: () => boolean; readonly startEndHooks: StartEndHooks | undefined },
  ) {
    this.#edges = edges
    this.#self = self
    this.#isOpen = options.isOpen
    this.#startEndHooks = options.startEndHooks
  }

  /** Resolves when the stops and ends that are under way have been carried. */
  async settled(): Promise<void> {
    await Promise.all(this.#carrying.values())
  }

  /** Carries a marked stop or end down the tree, in the background. */
  carryOn(row: ProcessRow): void {
    if (row.carry === null || !this.#isOpen()) return
    this.#carry(row.record.pid)
  }

  #carry(pid: Pid): void {
    this.#toCarry.add(pid)
    this.#carrySome()
  }

  /** A few at a time, however wide the tree is. The next sweep finds those that are not carried before `close`. */
  #carrySome(): void {
    for (const pid of this.#toCarry) {
      if (this.#carrying.size >= MAX_CARRIERS || !this.#isOpen()) return
      if (this.#carrying.has(pid)) continue
      // A mark that is written from now on is carried after this one.
      this.#toCarry.delete(pid)
      const carried = this.#carryOne(pid).finally(() => {
        this.#carrying.delete(pid)
        this.#carrySome()
      })
      this.#carrying.set(pid, carried)
    }
  }

  async #carryOne(pid: Pid): Promise<void> {
    try {
      for (const child of await carryToChildren(this.#edges, this.#self, pid)) this.#toCarry.add(child)
    } catch (error) {
      this.#edges.onTrouble(error, `carrying a stop on from ${pid}`)
    }
    try {
      await carryToHooks(this.#edges, pid, this.#startEndHooks)
    } catch (error) {
      this.#edges.onTrouble(error, `starting the hooks of an end of ${pid}`)
    }
  }

  /** Stops the processes whose lifetime is the session. Of a deleted session, removes every reference to it, then the session. */
  session(session: Session): Promise<SessionDeletionReport> {
    // A sweep that finds the session joins the call that ended it, which returns the report.
    const key = `${session.deleted ? 'delete' : 'end'} ${session.id}`
    const underWay = this.#endingSessions.get(key)
    if (underWay !== undefined) return underWay
    const carried = this.#sessionOnce(session).finally(() => this.#endingSessions.delete(key))
    this.#endingSessions.set(key, carried)
    return carried
  }

  async #sessionOnce(session: Session): Promise<SessionDeletionReport> {
    const nothing = { revoked: 0, stopped: [], orphaned: [], preserved: [], noticesDropped: 0 }
    if (!session.carry) return nothing
    const below = await this.#sessionsBelow(session)
    const { stopped, marked } = await carrySession(this.#edges, this.#self, session)
    for (const pid of marked) this.#carry(pid)
    if (!session.deleted) {
      await sessionCarried(this.#edges, session.id)
      return merged([...below, { ...nothing, stopped }])
    }
    const live = await this.#liveOf({ owner: { session: [session.id] } })
    const { unwoken, ...counts } = await strip(this.#edges, this.#self, session.id)
    await sessionCarried(this.#edges, session.id)
    const preserved = live.filter((pid) => !stopped.includes(pid))
    const orphaned = unwoken.filter((pid) => !stopped.includes(pid) && !preserved.includes(pid))
    return merged([...below, { ...counts, stopped, preserved, orphaned }])
  }

  /** Its mark stays until every session below has one, so that the next sweep goes on after a crash. */
  async #sessionsBelow(session: Session): Promise<SessionDeletionReport[]> {
    const reports: SessionDeletionReport[] = []
    let after: string | null = null
    do {
      const { marked, next }: Awaited<ReturnType<typeof carryToSessionsBelow>> = await carryToSessionsBelow(
        this.#edges,
        session,
        after,
      )
      // As deep as sessions may be: `MAX_SESSION_DEPTH`.
      for (const one of marked) reports.push(await this.session(one))
      after = next
    } while (after !== null)
    return reports
  }

  async turn(turn: Turn): Promise<void> {
    if (!turn.carry) return
    const { marked } = await carryTurn(this.#edges, this.#self, turn)
    for (const pid of marked) this.#carry(pid)
  }

  async #liveOf(filter: Filter): Promise<Pid[]> {
    const pids: Pid[] = []
    let after: number | null = null
    do {
      const page: { items: readonly ProcessRow[]; next: number | null } = await this.#edges.store.ask({
        ask: 'processes',
        filter,
        after,
        limit: PAGE,
      })
      pids.push(...page.items.map(({ record }) => record.pid))
      after = page.next
    } while (after !== null)
    return pids
  }
}

/** The report on a session and all sessions below it. */
function merged(reports: readonly SessionDeletionReport[]): SessionDeletionReport {
  const pids = (name: 'stopped' | 'orphaned' | 'preserved') => [
    ...new Set(reports.flatMap((one) => one[name])),
  ]
  const sum = (name: 'revoked' | 'noticesDropped') => reports.reduce((total, one) => total + one[name], 0)
  return {
    revoked: sum('revoked'),
    stopped: pids('stopped'),
    orphaned: pids('orphaned'),
    preserved: pids('preserved'),
    noticesDropped: sum('noticesDropped'),
  }
}
