import { isDead } from '../core/lease/holder.ts'
import type { Intent } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Evidence } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { type Backoff, type HolderState, type Verdict, verdict } from '../core/recovery/verdict.ts'
import { type Change, know } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import { proofOf, retireDead } from './holders.ts'
import { type Performed, performOne } from './perform.ts'
import type { PlanPart } from './plan-part.ts'
import { WorkingRows } from './working-rows.ts'

/** The processes that a recovery checked, by result. */
export interface RecoveryReport {
  readonly checked: Pid[]
  readonly adopted: Pid[]
  /** Queued again: the next claim runs them. */
  readonly rerun: Pid[]
  /** Ended: their stop was settled, or they had no attempts left. */
  readonly completed: Pid[]
  readonly abandoned: Pid[]
  readonly left: Pid[]
}

export function emptyReport(): RecoveryReport {
  return { checked: [], adopted: [], rerun: [], completed: [], abandoned: [], left: [] }
}

/** Processes per commit: enough that the flush to disk does not dominate. */
const PAGE = 1_000

/**
 * Settles the processes of dead holders, page by page. Several kernels may recover at once, and each process is settled by
 * one of them: every write is a compare-and-swap on the lease it was decided on.
 */
export async function recover(edges: Edges, recovering: Recovering): Promise<RecoveryReport> {
  const { self, closed } = recovering
  const report = emptyReport()
  const dead = (await edges.store.ask({ ask: 'holders' }))
    .filter((holder) => holder.id !== self && isDead(holder, edges.prove(holder)))
    .map((holder) => holder.id)
  // A holder that lapsed, was recovered from, and claimed again before it noticed has leases and no row.
  const unannounced = (await edges.store.ask({ ask: 'unannounced' })).filter((id) => id !== self)
  for (const holder of [...dead, ...unannounced]) {
    if (closed()) break
    await recoverHolder(edges, recovering, { id: holder, state: 'dead' }, report)
  }
  return report
}

/** The kernel that recovers, and how. */
export interface Recovering {
  readonly self: string
  readonly backoff: Backoff
  readonly closed: () => boolean
}

type DeadHolder =
  | { readonly id: string; readonly state: Exclude<HolderState, 'live' | 'removed'> }
  /** `seen`: the fences it held, by pid, when its row was removed. If it has announced itself again, only those are settled. */
  | { readonly id: string; readonly state: 'removed'; readonly seen: ReadonlyMap<Pid, number> }

/** Settles everything that a dead holder holds, and removes its row. */
export async function recoverHolder(
  edges: Edges,
  { self, backoff, closed }: Recovering,
  dead: DeadHolder,
  report: RecoveryReport,
): Promise<void> {
  const { id: holder, state } = dead
  let left = 0
  let after: number | null = null
  do {
    if (closed()) return
    const page: { items: readonly ProcessRow[]; next: number | null } = await edges.store.ask({
      ask: 'held',
      holder,
      after,
      limit: PAGE,
    })
    const verdicts = page.items.map((row) => {
      const at = edges.clock.now()
      return { row, verdict: verdict(row, state, at, edges.random(), backoff) }
    })
    const settled = await settle(edges, self, dead, verdicts, report)
    if (settled === 'came_back') return
    left += settled
    after = page.next
  } while (after !== null)
  // The row stays while it still holds something, such as a command that only its keeper's kernel may settle.
  if (left === 0 && (await retireDead(edges, holder))) edges.cleanUpAfter?.(holder)
}

async function settle(
  edges: Edges,
  self: string,
  dead: DeadHolder,
  verdicts: readonly { readonly row: ProcessRow; readonly verdict: Verdict }[],
  report: RecoveryReport,
): Promise<number | 'came_back'> {
  const at = edges.clock.now()
  const actions = verdicts.flatMap(({ row, verdict: reached }) => {
    const intent = intentFor(row, reached, self, at)
    return intent === undefined ? [] : [{ intent, reached }]
  })
  const intents = actions.map(({ intent }) => intent)
  const performed =
    dead.state === 'removed'
      ? await performRemoved(edges, dead, intents)
      : await whileDead(edges, dead.id, intents)
  if (performed === 'came_back') return performed
  report.checked.push(...verdicts.map(({ row }) => row.record.pid))
  for (const { row, verdict: reached } of verdicts)
    if (reached.type === 'leave') report.left.push(row.record.pid)
  for (const [index, { intent, reached }] of actions.entries()) {
    const done = performed[index]
    if (done !== undefined && done !== 'left' && done.type === 'appended')
      listFor(report, reached).push(intent.pid)
  }
  return verdicts.length - performed.filter((one) => one !== 'left').length
}

/** Settles the processes of a removed holder, even if it has announced itself again; but not those that it began since then. */
function performRemoved(
  edges: Edges,
  { id, seen }: Extract<DeadHolder, { state: 'removed' }>,
  intents: readonly RecoveryIntent[],
): Promise<(Performed | 'left')[]> {
  return edges.store.write(function* () {
    const isBack = yield* know({ ask: 'announced', id })
    const isMeant = ({ pid, observed }: RecoveryIntent) => !isBack || seen.get(pid) === observed.fence
    const { answer, changes } = yield* performing(edges, intents.filter(isMeant))
    const performed = answer.values()
    return {
      answer: intents.map((one) => (isMeant(one) ? (performed.next().value ?? 'left') : 'left')),
      changes,
    }
  })
}

function* performing(
  edges: Edges,
  intents: readonly Intent[],
): PlanPart<{ answer: Performed[]; changes: readonly Change[] }> {
  const rows = new WorkingRows()
  const performed: Performed[] = []
  for (const intent of intents) performed.push(yield* performOne(edges, rows, intent))
  return { answer: performed, changes: rows.changes }
}

/** The holder must still be dead in the transaction that acts on it: it may have come back since. */
async function whileDead(
  edges: Edges,
  holder: string,
  intents: readonly Intent[],
): Promise<Performed[] | 'came_back'> {
  const proof = await proofOf(edges, holder)
  return edges.store.write<Performed[] | 'came_back'>(function* () {
    const row = yield* know({ ask: 'holder', id: holder })
    if (row !== null && !isDead(row, proof)) return { answer: 'came_back', changes: [] }
    return yield* performing(edges, intents)
  })
}

type RecoveryIntent = Extract<Intent, { type: 'put_back' | 'abandon' | 'give_up' | 'settle_stop' }>

function intentFor(row: ProcessRow, reached: Verdict, self: string, at: number): RecoveryIntent | undefined {
  const observed = { holder: row.holder, fence: row.fence }
  const asked = { pid: row.record.pid, actor: `kernel:${self}`, at, observed } as const
  switch (reached.type) {
    case 'leave':
      return undefined
    case 'put_back':
      return {
        ...asked,
        type: 'put_back',
        evidence: 'holder_dead' satisfies Evidence,
        retryAt: reached.retryAt,
      }
    case 'abandon':
      return { ...asked, type: 'abandon', evidence: reached.evidence }
    case 'give_up':
      return { ...asked, type: 'give_up', reason: reached.reason }
    case 'settle_stop':
      return { ...asked, type: 'settle_stop' }
  }
}

function listFor(report: RecoveryReport, reached: Verdict): Pid[] {
  switch (reached.type) {
    case 'put_back':
      return report.rerun
    case 'abandon':
      return report.abandoned
    case 'give_up':
    case 'settle_stop':
      return report.completed
    case 'leave':
      return report.left
  }
}
