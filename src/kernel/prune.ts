import { type Account, accountOf, sessionIn, spentOf } from '../core/allowance/account.ts'
import { isNothing } from '../core/allowance/amounts.ts'
import type { Pid } from '../core/process/pid.ts'
import {
  type KeepReason,
  keepReason,
  type PruneFacts,
  type Pruning,
  TOMBSTONE_MS,
} from '../core/process/prune.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { ProcessRow, Tombstone } from '../core/process/row.ts'
import { type EndKey, know, type PruneCandidate, type Questions } from '../store/contract.ts'
import { dropAccount } from './allowances.ts'
import type { Edges } from './edges.ts'
import type { PlanPart } from './plan-part.ts'
import { WorkingRows } from './working-rows.ts'

/** Which processes to prune: those that ended before a time or beyond a number to keep, or some by pid. */
export type PruneOptions =
  | {
      /** Counted from the end of a process. */
      readonly endedBefore?: number
      /** How many ended processes are kept regardless of their age. */
      readonly keep?: number
    }
  | {
      readonly pids: readonly Pid[]
      /** `limits`: as if limits had chosen them, so an unread notice keeps its process. */
      readonly by?: Pruning['by']
    }

/** The result of one transaction. A pid that is unknown, or pruned already, is in neither list. */
export interface PruneBatch {
  readonly pruned: readonly Pid[]
  readonly kept: readonly { readonly pid: Pid; readonly reason: KeepReason }[]
}

const FIRST_BATCH = 1_000
/** Fewer at once save little: a flush to disk and the pages of the indexes are written for every batch. */
const MIN_BATCH = 250
/** More at once cost no less each, and one statement must stay of a bounded size. */
const MAX_BATCH = 2_000
/** A batch holds up all other writes for about this long. */
const MAX_BATCH_MS = 60

/** Removes ended processes with all their data; a tombstone keeps the fence and refuses the pid. */
export async function prune(edges: Edges, options: PruneOptions): Promise<Pid[]> {
  const all: Pid[] = []
  for await (const { pruned } of pruneInBatches(edges, options)) for (const pid of pruned) all.push(pid)
  return all
}

/**
 * The same, batch by batch: each is one transaction, and other work of the loop runs between two of them. The size of a
 * batch follows from how long the last one took. Also drops old tombstones, and gives free space back to the file system.
 */
export async function* pruneInBatches(edges: Edges, options: PruneOptions): AsyncGenerator<PruneBatch> {
  const size = new BatchSize(edges)
  if ('pids' in options) {
    for (let next = 0; next < options.pids.length; ) {
      const pids = options.pids.slice(next, next + size.now)
      next += pids.length
      yield (await size.timed(() => pruneBatch(edges, { pids }, options.by ?? 'pid'))).batch
    }
  } else {
    const { endedBefore = null, keep = null } = options
    const through = await edges.store.ask({ ask: 'pruneThrough', endedBefore, keep })
    let after: EndKey | null = null
    while (through !== null) {
      const limit = size.now
      const done: Pruned = await size.timed(() => pruneBatch(edges, { after, through, limit }, 'limits'))
      yield done.batch
      if (done.last === null || done.found < limit) break
      after = done.last
    }
  }
  await dropOldTombstones(edges, size)
  while ((await edges.store.releaseSpace?.()) === 'more');
}

/** Doubles while batches are quick, and shrinks in proportion when one was not. */
class BatchSize {
  now = FIRST_BATCH
  readonly #clock: Edges['clock']

  constructor({ clock }: Edges) {
    this.#clock = clock
  }

  async timed<Answer>(task: () => Promise<Answer>): Promise<Answer> {
    const begun = this.#clock.now()
    const answer = await task()
    const tookMs = this.#clock.now() - begun
    const factor = tookMs <= 0 ? 2 : Math.min(2, MAX_BATCH_MS / tookMs)
    this.now = Math.min(MAX_BATCH, Math.max(MIN_BATCH, Math.floor(this.now * factor)))
    return answer
  }
}

interface Pruned {
  readonly batch: PruneBatch
  readonly found: number
  /** Where the next batch begins. */
  readonly last: EndKey | null
}

function pruneBatch(edges: Edges, wanted: Questions['prunable'][0], by: Pruning['by']): Promise<Pruned> {
  return edges.store.write<Pruned>(function* () {
    const candidates: readonly PruneCandidate[] = yield* know({ ask: 'prunable', ...wanted })
    const prunedAt = edges.clock.now()
    const callers = yield* learnCallers(candidates)
    const pruning = { by, at: prunedAt, callers }
    const kept: { pid: Pid; reason: KeepReason }[] = []
    const gone: PruneCandidate[] = []
    for (const candidate of candidates) {
      const reason = keepReason(candidate, pruning)
      if (reason === null) gone.push(candidate)
      else kept.push({ pid: candidate.pid, reason })
    }
    const working = new WorkingRows()
    yield* dropAccounts(working, gone)
    const tombstones = gone.map(
      ({ pid, fence, endedAt }): Tombstone => ({ pid, fence, endedAt: endedAt ?? prunedAt, prunedAt }),
    )
    if (tombstones.length > 0) working.add([{ type: 'prune', tombstones }])
    const last = candidates.at(-1)
    return {
      answer: {
        batch: { pruned: gone.map(({ pid }) => pid), kept },
        found: candidates.length,
        last: last === undefined ? null : { endedAt: last.endedAt ?? prunedAt, id: last.id },
      },
      changes: working.changes,
    }
  })
}

/**
 * The live agents of which candidates are tool calls. The list compares no rows with the commit, so agents at work do not hold up the
 * prune: a call that was closed stays closed.
 */
function* learnCallers(candidates: readonly PruneFacts[]): PlanPart<ReadonlyMap<Pid, ProcessRecord>> {
  const pids = new Set(candidates.flatMap(({ caller }) => (caller === null ? [] : [caller])))
  if (pids.size === 0) return new Map()
  const filter = { pid: [...pids] }
  const page = yield* know({ ask: 'processes', filter, after: null, limit: pids.size })
  return new Map(page.items.map(({ record }) => [record.pid, record]))
}

/** Removes the accounts of pruned processes. Their usage stays part of the sums above them. */
function* dropAccounts(working: WorkingRows, gone: readonly PruneFacts[]): PlanPart<void> {
  const withAccount = gone.filter(({ hasAccount }) => hasAccount)
  if (withAccount.length === 0) return
  yield* learnAccounts(
    working,
    withAccount.map(({ pid }) => pid),
  )
  yield* learnHeirs(working, withAccount)
  for (const facts of withAccount) {
    yield* dropAccount(working, facts)
    working.learned(facts.pid, null)
  }
}

/** Asked for together: a store that is far away answers them in one round trip. */
function* learnAccounts(working: WorkingRows, pids: readonly Pid[]): PlanPart<void> {
  const ids = [...new Set(pids)].map(accountOf)
  const accounts = (yield ids.map((id) => ({ ask: 'account', id }) as const)) as (Account | null)[]
  for (const [index, id] of ids.entries()) working.learnedAccount(id, accounts[index] ?? null)
}

/** Reads the parents, roots and sessions that inherit the usage of pruned processes. */
function* learnHeirs(working: WorkingRows, gone: readonly PruneFacts[]): PlanPart<void> {
  const above: Pid[] = []
  const sessions = new Set<string>()
  for (const { pid, parent, root } of gone) {
    const account = yield* working.account(accountOf(pid))
    if (account === null || account.settled || isNothing(spentOf(account))) continue
    if (parent !== null) above.push(parent)
    if (root !== pid) above.push(root)
    if (account.session !== null) sessions.add(account.session)
  }
  const pids = [...new Set(above)]
  const ids = [...sessions]
  if (pids.length === 0 && ids.length === 0) return
  const answers = yield [
    ...pids.map((pid) => ({ ask: 'process', pid }) as const),
    ...ids.map((id) => ({ ask: 'session', id: sessionIn(id) }) as const),
    ...ids.map((id) => ({ ask: 'account', id }) as const),
  ]
  for (const [index, pid] of pids.entries()) working.learned(pid, answers[index] as ProcessRow | null)
  const accounts = answers.slice(pids.length + ids.length) as (Account | null)[]
  for (const [index, id] of ids.entries()) working.learnedAccount(id, accounts[index] ?? null)
  const known = new Set(gone.map(({ pid }) => pid))
  const unknown = pids.filter((pid) => !known.has(pid))
  if (unknown.length > 0) yield* learnAccounts(working, unknown)
}

async function dropOldTombstones(edges: Edges, size: BatchSize): Promise<void> {
  const prunedBefore = edges.clock.now() - TOMBSTONE_MS
  for (;;) {
    const limit = size.now
    const dropped = await size.timed(() =>
      edges.store.write<number>(function* () {
        const pids = yield* know({ ask: 'tombstones', prunedBefore, limit })
        const changes = pids.length === 0 ? [] : [{ type: 'tombstones_gone', pids } as const]
        return { answer: pids.length, changes }
      }),
    )
    if (dropped < limit) return
  }
}
