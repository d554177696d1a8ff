import type { Account } from '../../src/core/allowance/account.ts'
import type { Inbox } from '../../src/core/inbox/inbox.ts'
import type { StoredEvent } from '../../src/core/process/event.ts'
import type { Pid } from '../../src/core/process/pid.ts'
import type { ProcessRow } from '../../src/core/process/row.ts'
import { Kernel } from '../../src/kernel/kernel.ts'
import type { Change, Plan } from '../../src/store/contract.ts'
import { holderNamed } from '../../src/testing/test-kernel.ts'
import { changing, forging, misinformed, type Steps } from './false-facts.ts'
import type { Plant } from './plant.ts'
import { Forgetful, KeepsSlots, ReadsFirst, seeingEverywhere } from './planted-parts.ts'

/** Plausible bugs of a world without rules, each planted where the kernel uses an injected dependency. */
export const plants: readonly Plant[] = [
  {
    name: 'an unfenced completion',
    laws: ['one executor'],
    since: 93,
    plan: (plan, planting) =>
      forging(plan, isCompletion, (row) => {
        const fence = planting.fenceOf(row.record.pid)
        // A process that waits is not the one that is completed: it only gets the end of its child.
        const isOther = row.record.parked || row.record.wait?.on === 'child'
        return fence === undefined || isOther ? row : { ...row, holder: planting.holder, fence }
      }),
  },
  {
    name: 'a lost outbox row',
    laws: ['no lost notice'],
    since: 56,
    plan: (plan) =>
      changing(plan, (changes) =>
        changes.filter((change) => change.type !== 'notice' || change.notice.kind !== 'wake'),
      ),
  },
  {
    name: 'a projection that forgets a field',
    laws: ['refold'],
    plan: (plan) =>
      changing(plan, (changes) =>
        changes.map((change) => {
          if (change.type !== 'process' || change.was === null) return change
          const record = { ...change.row.record, abandonRequest: change.was.record.abandonRequest }
          return { ...change, row: { ...change.row, record } }
        }),
      ),
  },
  {
    name: 'a wait that reads before it subscribes',
    laws: ['a wait resolves if and only if it has ended'],
    since: 96,
    kernel: (edges, options) => new ReadsFirst(edges, options),
  },
  {
    name: 'a reclaim without compare-and-swap',
    laws: ['one executor', 'fences never go backwards'],
    since: 14,
    plan: (plan, planting) =>
      forging(plan, isRecovery, (row) => {
        // The facts of an earlier recovery: before the present holder claimed it, or before another kernel recovered it.
        const fence = row.holder === null ? row.fence : row.fence - 1
        const holder = planting.ledger.entry(row.record.pid)?.granted.get(fence)
        return holder === undefined ? row : { ...row, holder, fence }
      }),
  },
  { name: 'an end accepted after the end', laws: ['the end is final'], plan: endingTwice },
  {
    name: 'a stop that counts as delivered when it is on record',
    laws: ['never invent an outcome', 'refold'],
    since: 13,
    plan: (plan) =>
      forging(plan, isSeenGone, (row) => {
        const { stopRequest, updatedAt } = row.record
        if (row.record.kind !== 'external' || stopRequest === null) return row
        return { ...row, record: { ...row.record, stopRequest: { ...stopRequest, deliveredAt: updatedAt } } }
      }),
  },
  {
    name: 'a commit that did not happen',
    laws: ['no lost acknowledged write', 'rejected writes change nothing, acknowledged ones last', 'refold'],
    transaction: (inner) => new Forgetful(inner),
  },
  {
    name: 'an allowance that does not come back',
    laws: ['no tree uses more than it was given'],
    since: 2,
    plan: (plan) =>
      changing(plan, (changes) =>
        changes.filter((change) => change.type !== 'account' || !isGivenBack(change.was, change.account)),
      ),
  },
  {
    name: 'a tool that counts as a child',
    laws: ['a tool is a call, not a child'],
    since: 9,
    plan: (plan) =>
      changing(plan, (changes) =>
        changes.some(isNewTool)
          ? changes.map((change) => {
              if (change.type !== 'account' || change.was === null) return change
              const { account } = change
              const used = { ...account.used, children: (account.used.children ?? 0) + 1 }
              return { ...change, account: { ...account, used } }
            })
          : changes,
      ),
  },
  {
    name: 'a notice that is given while another has it',
    laws: ['exclusive delivery'],
    since: 6,
    plan: (plan) => unaware(plan),
  },
  {
    name: 'an outcome that reaches no waiter',
    laws: ['no lost notice'],
    since: 97,
    plan: (plan) =>
      changing(plan, (changes) =>
        // A process that waited once counts as still waiting.
        changes.filter(
          (change) =>
            change.type !== 'notice' || !changes.some((one) => isAwaitedEnd(one, change.notice.pid)),
        ),
      ),
  },
  {
    name: 'a received message that stays in the inbox',
    laws: ['messages are received once, in order'],
    since: 475,
    plan: (plan) =>
      changing(plan, (changes) =>
        changes.filter((change) => change.type !== 'notices_done' || !change.scope.startsWith('process:')),
      ),
  },
  {
    name: 'a release without a notification',
    laws: ['no lost notice'],
    since: 166,
    plan: (plan) =>
      changing(plan, (changes) =>
        changes.filter((change) => change.type !== 'notice' || change.notice.kind !== 'overflow_released'),
      ),
  },
  {
    name: 'claim ignores placement',
    laws: ['it runs where it was placed'],
    since: 3,
    plan: (plan) => ignoringPlacement(plan),
    kernel: (edges, options) => new Kernel({ ...edges, store: seeingEverywhere(edges.store) }, options),
  },
  {
    name: 'a removed holder that renews its row',
    // It renews its row, or claims under its former id first.
    laws: ['a removed holder does not come back', 'a removed holder begins nothing'],
    since: 13,
    plan: (plan, planting) => unawareOfRemoval(plan, planting.holder),
  },
  {
    name: 'a stop that is never given up',
    laws: ['a stop that is ignored is given up', 'a holder executes what it holds'],
    since: 119,
    plan: (plan) =>
      changing(plan, (changes) =>
        changes.some((change) => change.type === 'process' && change.events.some(isGivenUpStop))
          ? []
          : changes,
      ),
  },
  {
    name: 'a wait that keeps its slot',
    laws: ['nothing is left lying'],
    since: 151,
    kernel: (edges, options) => new KeepsSlots(edges, options),
  },
  {
    name: 'a refused write that leaves a grant',
    laws: ['rejected writes change nothing'],
    plan: (plan) =>
      changing(plan, (changes, answer) => {
        const refused =
          typeof answer === 'object' && answer !== null && 'code' in answer && 'remedy' in answer
        const grant = { session: 's1', pid: 'p_000000000001', descriptor: null, at: 0 }
        return refused ? [...changes, { type: 'grant', grant }] : changes
      }),
  },
]

/** Tells a holder that its row exists, and is only expired. */
function unawareOfRemoval<Answer>(plan: Plan<Answer>, holder: string): Plan<Answer> {
  const row = { ...holderNamed(holder), renewedAt: 0, expired: true }
  return function* (): Steps<Answer> {
    const steps = plan()
    let known: readonly unknown[] = []
    for (;;) {
      const step = steps.next(known)
      if (step.done) return step.value
      const answers = yield step.value
      known = step.value.map((question, index) =>
        question.ask === 'holder' && question.id === holder ? (answers[index] ?? row) : answers[index],
      )
    }
  }
}

/** Hides the placement of a process from claims. */
function ignoringPlacement<Answer>(plan: Plan<Answer>): Plan<Answer> {
  return function* (): Steps<Answer> {
    const truth = new Map<Pid, ProcessRow>()
    const verdict = yield* misinformed(plan, (row) => {
      if (row.record.placement === null) return row
      truth.set(row.record.pid, row)
      return { ...row, record: { ...row.record, placement: null } }
    })
    const isClaimed = (change: Change) =>
      change.type === 'process' && change.events.some(({ type }) => type === 'started')
    if (!verdict.changes.some(isClaimed)) return yield* plan()
    const changes = verdict.changes.map((change) => {
      const was = change.type === 'process' ? truth.get(change.row.record.pid) : undefined
      if (change.type !== 'process' || was === undefined) return change
      const { placement } = was.record
      return { ...change, was, row: { ...change.row, record: { ...change.row.record, placement } } }
    })
    return { ...verdict, changes }
  }
}

/** Hides the notices that other consumers have taken from a consumer. */
function unaware<Answer>(plan: Plan<Answer>): Plan<Answer> {
  return function* (): Steps<Answer> {
    const steps = plan()
    let known: readonly unknown[] = []
    for (;;) {
      const step = steps.next(known)
      if (step.done) return step.value
      const answers = yield step.value
      known = step.value.map(({ ask }, index) =>
        ask === 'inbox' && answers[index] !== null
          ? { ...(answers[index] as Inbox), taken: [] }
          : answers[index],
      )
    }
  }
}

/** Shows an ended process as alive to an end. */
export function endingTwice<Answer>(plan: Plan<Answer>): Plan<Answer> {
  return forging(plan, isEnd, (row) =>
    row.record.outcome === null
      ? row
      : { ...row, record: { ...row.record, outcome: null, status: 'running' } },
  )
}

function isCompletion({ type, replayKey }: Pick<StoredEvent, 'type' | 'replayKey'>): boolean {
  return type === 'ended' && replayKey?.startsWith('end:') === true
}

function isRecovery({ type, replayKey }: Pick<StoredEvent, 'type' | 'replayKey'>): boolean {
  return (
    type === 'holder_lost' || (type === 'ended' && /^(abandon|give_up|settle_stop):/.test(replayKey ?? ''))
  )
}

function isSeenGone(event: Pick<StoredEvent, 'type' | 'replayKey'>): boolean {
  return (
    isEnd(event) &&
    (event as StoredEvent & { payload: { evidence?: unknown } }).payload.evidence === 'process_gone'
  )
}

function isGivenUpStop({ replayKey }: Pick<StoredEvent, 'replayKey'>): boolean {
  return replayKey?.startsWith('give_up_stop:') === true
}

function isEnd({ type }: Pick<StoredEvent, 'type'>): boolean {
  return type === 'ended'
}

function isAwaitedEnd(change: Change, pid: Pid): boolean {
  if (change.type !== 'process' || change.row.record.pid !== pid) return false
  const { parent, awaitedBy, outcome } = change.row.record
  return outcome !== null && parent !== null && awaitedBy.includes(parent)
}

function isNewTool(change: Change): boolean {
  return change.type === 'process' && change.was === null && change.row.record.kind === 'tool'
}

/** The carved amount shrinks only by what returns from children. */
function isGivenBack(was: Account | null, { carved }: Account): boolean {
  return (was?.carved.toolCalls ?? 0) > (carved.toolCalls ?? 0)
}
