import { visibilityOf } from '../core/authority/visibility.ts'
import { isDead } from '../core/lease/holder.ts'
import type { Filter } from '../core/process/filter.ts'
import type { Pid } from '../core/process/pid.ts'
import { type Actor, hasEnded, type Owner, type ProcessRecord, type StopHow } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import type { Page } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import type { Kernel } from './kernel.ts'
import { performEach } from './perform.ts'

/** What became of each process that matched. */
export interface StopReport {
  matched: number
  readonly signalled: Pid[]
  readonly alreadyEnded: Pid[]
  readonly stale: Pid[]
  readonly failed: { readonly pid: Pid; readonly code: string; readonly message: string }[]
}

export type InterruptScope = Owner & { readonly pid?: Pid }

const PAGE = 200
/** Of processes that have ended no more than this are named. */
const ENDED_NAMED = 100

/** Asks all processes of a scope to stop: whoever executes them, here or elsewhere. Every selector given must match. */
export async function interruptScope(
  kernel: Kernel,
  actor: Actor,
  { pid, ...owner }: InterruptScope,
  options: { readonly reason: string; readonly tree: boolean },
): Promise<StopReport | Refusal> {
  const selectors = Object.entries(owner).filter(([, value]) => value !== undefined)
  if (selectors.length === 0 && pid === undefined) {
    return refusal(
      'empty_scope',
      'An interrupt without a scope would concern everything.',
      'Name at least one selector: a pid, a session, a turn, a tool call …',
    )
  }
  const filter: Filter = {
    owner: Object.fromEntries(selectors.map(([selector, value]) => [selector, [value]])),
    ...(pid === undefined ? {} : { pid: [pid] }),
  }
  const live = await visible(kernel.edges, actor, filter, Number.POSITIVE_INFINITY)
  const concerned = options.tree ? await withDescendants(kernel.edges, live) : live
  if (concerned.length > 0) return stopAll(kernel, actor, concerned, 'interrupt', options)
  const ended = await visible(kernel.edges, actor, { ...filter, status: 'any' }, ENDED_NAMED)
  if (ended.length > 0) return { ...none(), matched: ended.length, alreadyEnded: ended.map(({ pid }) => pid) }
  return refusal('not_found', 'No process matches that scope.', 'List the processes to see which there are.')
}

/** Stops these, each by itself: what one refuses does not keep the others. */
async function stopAll(
  kernel: Kernel,
  actor: Actor,
  records: readonly ProcessRecord[],
  how: StopHow,
  { reason, graceMs }: { readonly reason: string; readonly graceMs?: number },
): Promise<StopReport> {
  const { edges } = kernel
  const report = { ...none(), matched: records.length }
  const at = edges.clock.now()
  const replayKey = `${how}:${edges.newId()}`
  const stop = {
    actor,
    at,
    how,
    reason,
    cause: null,
    replayKey,
    ...(graceMs === undefined ? {} : { graceMs }),
  }
  for (let from = 0; from < records.length; from += PAGE) {
    const page = records.slice(from, from + PAGE)
    const performed = await performEach(
      edges,
      page.map(({ pid }) => ({ type: 'stop', pid, ...stop })),
    )
    for (const [index, one] of performed.entries()) {
      const pid = page[index]?.pid as Pid
      if (one.type === 'refused') {
        report.failed.push({ pid, code: one.refusal.code, message: one.refusal.message })
        continue
      }
      kernel.carryOn(one.row)
      const listed = await listFor(edges, one.type, one.row)
      report[listed].push(pid)
    }
  }
  return report
}

/** Live processes that fit, as far as the actor may see them. */
export async function visible(
  edges: Edges,
  actor: Actor,
  filter: Filter,
  most: number,
): Promise<ProcessRecord[]> {
  const found: ProcessRecord[] = []
  let after: number | null = null
  do {
    const page: Page<ProcessRow> = await edges.store.ask({
      ask: 'processes',
      filter,
      visibleTo: visibilityOf(actor),
      after,
      limit: Math.min(PAGE, most - found.length),
    })
    found.push(...page.items.map(({ record }) => record))
    after = page.next
  } while (after !== null && found.length < most)
  return found
}

async function withDescendants(edges: Edges, roots: readonly ProcessRecord[]): Promise<ProcessRecord[]> {
  const found = new Map(roots.map((record) => [record.pid, record]))
  const parents = [...found.keys()]
  for (const parent of parents) {
    const children = await visible(
      edges,
      'host',
      { parent: [parent], status: 'any' },
      Number.POSITIVE_INFINITY,
    )
    for (const child of children) {
      parents.push(child.pid)
      if (!hasEnded(child)) found.set(child.pid, child)
    }
  }
  return [...found.values()]
}

async function listFor(
  edges: Edges,
  how: 'appended' | 'replayed' | 'kept',
  row: ProcessRow,
): Promise<'signalled' | 'alreadyEnded' | 'stale'> {
  if (hasEnded(row.record)) return how === 'appended' ? 'signalled' : 'alreadyEnded'
  if (row.holder === null) return 'signalled'
  const holder = await edges.store.ask({ ask: 'holder', id: row.holder })
  const silent = isDead(holder, holder === null ? 'dead' : edges.prove(holder))
  return silent ? 'stale' : 'signalled'
}

function none(): StopReport {
  return { matched: 0, signalled: [], alreadyEnded: [], stale: [], failed: [] }
}
