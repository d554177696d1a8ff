import type { ProcessRow } from '../../../core/process/row.ts'
import type { Link } from '../link.ts'
import type { Staged } from '../staged.ts'
import type { StagedRow } from '../staged-row.ts'
import { auditCells, authorityText } from './commit-authority.ts'
import { restText } from './commit-rest.ts'
import { events, guards, notices, ownEvents } from './commit-values.ts'
import { changedLeases, changedProcesses, newProcesses, processCells } from './process-values.ts'

/** A store as the server knows it: its id, and the fence that each of its commits carries. */
export interface Writer {
  readonly store: string
  readonly fence: number
}

export type CommitAnswer =
  | { readonly type: 'stale'; readonly keys: readonly string[] }
  | { readonly type: 'committed'; readonly position: number | null }

const PARAMETERS = 64
const PARAMETERS_OF_ONE = 36

export function commitStatements(link: Link, at: string) {
  const commit = `select stale, "position" from ${at}commit_changes(${marks(PARAMETERS)})`
  const commitOne = `select ${at}commit_one(${marks(PARAMETERS_OF_ONE)}) as "position"`
  const check = `select to_json(${at}stale_keys($1, $2, $3, $4))::text as stale`
  const settle = `select fence, commit, "position" from ${at}settle($1)`

  const writeOne = async (
    { process, announced }: OnlyProcess,
    staged: Staged,
    { store, fence }: Writer,
    number: number,
    channel: string,
  ): Promise<CommitAnswer> => {
    const values = [store, fence, number, channel, ...processCells(process), staged.live]
    const [found] = await link.query<{ position: number | null }>(commitOne, [
      ...values,
      ...ownEvents(staged),
      announced,
      staged.epoch,
      ...auditCells(staged),
    ])
    if (found === undefined) throw new Error('commit_one() returned no row')
    return found.position === null
      ? { type: 'stale', keys: [...staged.guards.keys()] }
      : { type: 'committed', position: found.position }
  }

  const writeAll = async (
    staged: Staged,
    { store, fence }: Writer,
    number: number,
    channel: string,
  ): Promise<CommitAnswer> => {
    const values = [
      store,
      fence,
      number,
      isNews(staged) ? channel : null,
      ...guards(staged),
      ...newProcesses(staged),
      ...changedProcesses(staged),
      ...changedLeases(staged),
      restText(staged),
      staged.live,
      ...events(staged),
      ...notices(staged),
      staged.epoch,
      authorityText(staged),
      ...auditCells(staged),
    ]
    const [found] = await link.query<{ stale: string | null; position: number | null }>(commit, values)
    if (found === undefined) throw new Error('commit_changes() returned no row')
    return found.stale === null
      ? { type: 'committed', position: found.position }
      : { type: 'stale', keys: keysFrom(found.stale) }
  }

  return {
    /** Writes everything that is staged, unless a row has changed since a plan read it. */
    async commit(staged: Staged, writer: Writer, number: number, channel: string): Promise<CommitAnswer> {
      const one = onlyProcess(staged)
      return one === undefined
        ? writeAll(staged, writer, number, channel)
        : writeOne(one, staged, writer, number, channel)
    },

    /** For a batch that writes nothing: the keys of the rows that have changed since it read them, all compared at one moment. */
    async stale(staged: Staged): Promise<readonly string[]> {
      const [found] = await link.query<{ stale: string | null }>(check, [...guards(staged), staged.epoch])
      if (found === undefined) throw new Error('stale_keys() returned no row')
      return found.stale === null ? [] : keysFrom(found.stale)
    },

    /** The last commit of this store that happened. No earlier commit can happen after this call. */
    async settle(store: string): Promise<{ fence: number; commit: number; position: number | null }> {
      const [found] = await link.query<{ fence: number; commit: number; position: number | null }>(settle, [
        store,
      ])
      if (found === undefined) throw new Error('settle() returned no row')
      return found
    },

    /** The pids of those processes that another transaction has locked at this moment. */
    async locked(pids: readonly string[]): Promise<readonly string[]> {
      const free = await link.query<{ pid: string }>(
        `select pid from ${at}process where pid = any ($1) for no key update skip locked`,
        [pids],
      )
      const there = await link.query<{ pid: string }>(`select pid from ${at}process where pid = any ($1)`, [
        pids,
      ])
      const unlocked = new Set(free.map(({ pid }) => pid))
      return there.map(({ pid }) => pid).filter((pid) => !unlocked.has(pid))
    },

    /** Removes the row of a store that closes, and the rows of stores that died long ago. */
    async leave(store: string): Promise<void> {
      await link.query(`delete from ${at}writer where store = $1 or at < now() - interval '7 days'`, [store])
    },
  }
}

function marks(count: number): string {
  return Array.from({ length: count }, (_, index) => `$${index + 1}`).join(', ')
}

function keysFrom(text: string): readonly string[] {
  return JSON.parse(text) as string[]
}

interface OnlyProcess {
  readonly process: StagedRow<ProcessRow>
  /** The holder whose row must exist. */
  readonly announced: string | null
}

/**
 * The one process that was read and is written with its events, if the commit has nothing else but entries for the audit; a
 * new one also with its holder.
 */
function onlyProcess(staged: Staged): OnlyProcess | undefined {
  const { guards, processes, events, notices } = staged
  if (guards.size > 2 || processes.size !== 1 || events.length === 0 || notices.length > 0) return undefined
  if (restText(staged) !== null || authorityText(staged) !== null) return undefined
  const [process] = processes.values()
  if (process === undefined) return undefined
  if (guards.size === 1) return { process, announced: null }
  const announced = announcedHolder(staged)
  return process.version > 0 || announced === undefined ? undefined : { process, announced }
}

function announcedHolder({ guards }: Staged): string | undefined {
  for (const { question, version } of guards.values())
    if (question.ask === 'announced' && version > 0) return question.id
  return undefined
}

/** Whether other stores have a reason to read. Renewals and claims are frequent, and no follower waits for them. */
function isNews(staged: Staged): boolean {
  const { events, tombstones, sessions, goneSessions, turns, grants, revoked, notices, dropped } = staged
  const { approvals } = staged
  return (
    events.length > 0 ||
    notices.length > 0 ||
    [tombstones, sessions, goneSessions, turns, grants, revoked, dropped, approvals].some(
      ({ size }) => size > 0,
    )
  )
}
