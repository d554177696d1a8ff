import { unreadablePid } from '../core/errors.ts'
import { type Claimant, type ClaimRefusal, decideClaim, decideReclaim } from '../core/lease/decide-claim.ts'
import type { Fence } from '../core/lease/lease.ts'
import { decide } from '../core/process/decide.ts'
import { fold } from '../core/process/fold.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import { know, type Plan } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import { startOccurrence } from './occurrences.ts'
import { performOne, unknownPid } from './perform.ts'
import { WorkingRows } from './working-rows.ts'

export type Claimed =
  | { readonly type: 'granted'; readonly fence: Fence }
  | { readonly type: 'busy'; readonly holder: string }
  | { readonly type: 'refused'; readonly refusal: Refusal }

/** Takes the lease of one process without starting it. `here`: where the claimant is. */
export function claim(edges: Edges, pid: Pid, holder: string, here: Claimant['here'] = []): Promise<Claimed> {
  return edges.store.write<Claimed>(function* () {
    const row = yield* know({ ask: 'process', pid })
    if (row === null) return { answer: { type: 'refused', refusal: yield* unknownPid(pid) }, changes: [] }
    const decision = decideClaim(row, { holder, here }, edges.clock.now())
    switch (decision.type) {
      case 'busy':
        return { answer: { type: 'busy', holder: decision.holder }, changes: [] }
      case 'refused':
        return { answer: { type: 'refused', refusal: notClaimable(row, decision.why) }, changes: [] }
      case 'granted': {
        const kept = decision.lease.fence === row.fence && row.holder === holder
        const changes = kept
          ? []
          : [{ type: 'process', was: row, row: { ...row, ...decision.lease }, events: [] } as const]
        return { answer: { type: 'granted', fence: decision.lease }, changes }
      }
    }
  })
}

/**
 * Claims and starts in one transaction: if several kernels see the same work, each process goes to one of them. A process
 * whose record cannot be read is left out.
 */
export async function claimAndStart(
  edges: Edges,
  pids: readonly Pid[],
  holder: string,
  here: Claimant['here'] = [],
): Promise<ProcessRow[]> {
  return withoutUnreadable(edges, pids, (left) => edges.store.write(claiming(edges, left, { holder, here })))
}

/** The same for a holder that has announced itself: once its row is gone, it claims nothing under this id. */
export function claimAnnounced(
  edges: Edges,
  pids: readonly Pid[],
  claimant: Claimant,
): Promise<ProcessRow[] | 'unannounced'> {
  return withoutUnreadable(edges, pids, (left) => {
    const plan = claiming(edges, left, claimant)
    return edges.store.write<ProcessRow[] | 'unannounced'>(function* () {
      const row = yield* know({ ask: 'holder', id: claimant.holder })
      return row === null ? { answer: 'unannounced', changes: [] } : yield* plan()
    })
  })
}

/** A process whose record cannot be read must not keep others from being claimed. */
async function withoutUnreadable<Answer>(
  edges: Edges,
  pids: readonly Pid[],
  claim: (pids: readonly Pid[]) => Promise<Answer>,
): Promise<Answer> {
  for (let left = pids; ; ) {
    try {
      return await claim(left)
    } catch (error) {
      const unreadable = unreadablePid(error)
      if (unreadable === undefined || !left.includes(unreadable)) throw error
      edges.onTrouble(error, `claiming ${unreadable}`)
      left = left.filter((pid) => pid !== unreadable)
    }
  }
}

function claiming(edges: Edges, pids: readonly Pid[], { holder, here }: Claimant): Plan<ProcessRow[]> {
  const at = edges.clock.now()
  const actor = `kernel:${holder}` as const
  return function* () {
    const rows = new WorkingRows()
    const started: ProcessRow[] = []
    for (const pid of pids) {
      const was = yield* rows.process(pid)
      const granted = was === null ? undefined : decideClaim(was, { holder, here }, at)
      if (was === null || granted?.type !== 'granted') continue
      const { lease } = granted
      const decision = decide(
        { row: { ...was, ...lease }, replayed: null },
        { type: 'start', pid, actor, at, fence: lease },
        edges.rules,
      )
      if (decision.type !== 'append') continue
      if ((yield* startOccurrence({ edges, rows, performOne }, was, at)) === 'dropped') continue
      const begun = fold({ pid, was, group: null, events: decision.events, lease, actor, at })
      rows.add(begun.changes)
      started.push(begun.row)
    }
    return { answer: started, changes: rows.changes }
  }
}

/** Reclaims a lease that is still this holder's own, and of this attempt if one is named. Answers the higher fence, or null. */
export function reclaim(edges: Edges, pid: Pid, holder: string, attempt?: number): Promise<number | null> {
  return edges.store.write<number | null>(function* () {
    const row = yield* know({ ask: 'process', pid })
    const lease = row === null ? undefined : decideReclaim(row, holder)
    const another = attempt !== undefined && row?.record.attempts !== attempt
    if (row === null || lease === undefined || another) return { answer: null, changes: [] }
    return {
      answer: lease.fence,
      changes: [{ type: 'process', was: row, row: { ...row, ...lease }, events: [] }],
    }
  })
}

function notClaimable({ record }: ProcessRow, why: ClaimRefusal): Refusal {
  switch (why) {
    case 'ended':
      return refusal(
        'already_ended',
        `${record.pid} has ended (${record.status}).`,
        'Its outcome is final.',
        { outcome: record.outcome },
      )
    case 'external':
      return refusal(
        'not_claimable',
        `${record.pid} is external: Reeve does not execute it.`,
        'The program that runs it reports its end.',
      )
    case 'elsewhere':
      return refusal(
        'not_claimable',
        `${record.pid} is placed at ${record.placement}, and the program that claims it is not there.`,
        'Start a program there: on that host, or with that data folder.',
      )
    case 'not_ready':
      return refusal(
        'not_claimable',
        `${record.pid} is ${record.status}, not queued.`,
        'Wait until it is queued.',
      )
    case 'not_due':
      return refusal(
        'not_claimable',
        `${record.pid} is not to be begun again before ${record.retryAt}.`,
        'Wait until then.',
      )
  }
}
