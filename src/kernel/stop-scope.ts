import { visibilityOf } from '../core/authority/visibility.ts'
import { ReeveError, StoreError } from '../core/errors.ts'
import { isDead } from '../core/lease/holder.ts'
import type { Filter } from '../core/process/filter.ts'
import type { Pid } from '../core/process/pid.ts'
import { type Actor, hasEnded, type Owner, type ProcessRecord, type StopHow } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import type { Page } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import type { Kernel } from './kernel.ts'
import { type Performed, performEach } from './perform.ts'
import { type StopIntent, stopUnrecorded } from './unrecorded-stop.ts'

/** The result for each process that matched. */
export interface StopReport {
  matched: number
  readonly signalled: Pid[]
  readonly alreadyEnded: Pid[]
  readonly stale: Pid[]
  /** Asked to stop, though the store could not record it. It is recorded later. */
  readonly unrecorded: Pid[]
  /** External processes whose stop is on record and has not reached them. */
  readonly recorded: Pid[]
  readonly failed: { readonly pid: Pid; readonly code: string; readonly message: string }[]
}

export type InterruptScope = Owner & { readonly pid?: Pid }

const PAGE = 200
/** How many ended processes a report names at most. */
const ENDED_NAMED = 100

/** Asks all processes of a scope to stop, here or at any other holder. Every given selector must match. */
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
      'An interrupt without a scope would stop every process.',
      'Name at least one selector: a pid, a session, a turn, a tool call …',
    )
  }
  // The turns and tool calls of a session below have names of their own.
  const wholeSession = selectors.length === 1 ? owner.session : undefined
  const filter: Filter = {
    ...(wholeSession !== undefined
      ? { sessionTree: wholeSession }
      : { owner: Object.fromEntries(selectors.map(([selector, value]) => [selector, [value]])) }),
    ...(pid === undefined ? {} : { pid: [pid] }),
  }
  const live = await visible(kernel.edges, actor, filter, Number.POSITIVE_INFINITY)
  const concerned = options.tree ? await withDescendants(kernel.edges, live) : live
  if (concerned.length > 0) return stopAll(kernel, actor, concerned, 'interrupt', options)
  const ended = await visible(kernel.edges, actor, { ...filter, status: 'any' }, ENDED_NAMED)
  if (ended.length > 0) return { ...none(), matched: ended.length, alreadyEnded: ended.map(({ pid }) => pid) }
  return refusal('not_found', 'No process matches that scope.', 'List the processes to see which there are.')
}

/** Stops these, each by itself: a refusal of one does not affect the others. */
async function stopAll(
  kernel: Kernel,
  actor: Actor,
  records: readonly ProcessRecord[],
  how: StopHow,
  { reason }: { readonly reason: string },
): Promise<StopReport> {
  const { edges } = kernel
  const report = { ...none(), matched: records.length }
  const stop = {
    actor,
    at: edges.clock.now(),
    how,
    reason,
    cause: null,
    replayKey: `${how}:${edges.newId()}`,
  }
  const intents = mostUrgentFirst(records).map(({ pid }): StopIntent => ({ type: 'stop', pid, ...stop }))
  for await (const { intent, performed } of performInPages(kernel, intents)) {
    const { pid } = intent
    if (performed.type === 'unwritten') {
      await stopUnrecorded(kernel, intent, performed.error).then(
        () => report.unrecorded.push(pid),
        (error: unknown) => report.failed.push(failureOf(pid, error)),
      )
      continue
    }
    if (performed.type === 'refused') {
      const { code, message } = performed.refusal
      report.failed.push({ pid, code, message })
      continue
    }
    report[await listFor(edges, performed.type, performed.row)].push(pid)
  }
  return report
}

/** Commands are asked first: they have programs to end, and an external process may never answer. */
export function mostUrgentFirst(records: readonly ProcessRecord[]): ProcessRecord[] {
  return records.toSorted((a, b) => urgency(a) - urgency(b))
}

function urgency(record: ProcessRecord): number {
  if (hasEnded(record)) return 2
  if (record.kind === 'command') return 0
  return record.kind === 'external' ? 3 : 1
}

/** The store could not record the stop. */
interface Unwritten {
  readonly type: 'unwritten'
  readonly error: StoreError
}

/** Why a process could not be stopped, for a report. */
export function failureOf(pid: Pid, error: unknown): StopReport['failed'][number] {
  if (!(error instanceof ReeveError)) throw error
  return { pid, code: error.code, message: error.message }
}

/** Performs one transaction per page; a stop is carried on to the children it concerns. */
export async function* performInPages(
  kernel: Kernel,
  intents: readonly StopIntent[],
): AsyncGenerator<{ readonly intent: StopIntent; readonly performed: Performed | Unwritten }, void, void> {
  for (let from = 0; from < intents.length; from += PAGE) {
    const page = intents.slice(from, from + PAGE)
    const answers = await performEach(kernel.edges, page).catch((error: unknown) => {
      if (!(error instanceof StoreError)) throw error
      return error
    })
    if (answers instanceof StoreError) {
      for (const intent of page) yield { intent, performed: { type: 'unwritten', error: answers } }
      continue
    }
    for (const performed of answers) if (performed.type !== 'refused') kernel.carryOn(performed.row)
    for (const [index, intent] of page.entries()) {
      const performed = answers[index]
      if (performed !== undefined) yield { intent, performed }
    }
  }
}

/** Live processes that match and that the actor may see. */
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
  let parents = [...found.keys()]
  while (parents.length > 0) {
    const children: ProcessRecord[] = []
    for (let from = 0; from < parents.length; from += PAGE) {
      const filter = { parent: parents.slice(from, from + PAGE), status: 'any' } as const
      children.push(...(await visible(edges, 'host', filter, Number.POSITIVE_INFINITY)))
    }
    for (const child of children) if (!hasEnded(child)) found.set(child.pid, child)
    parents = children.map(({ pid }) => pid)
  }
  return [...found.values()]
}

async function listFor(
  edges: Edges,
  how: 'appended' | 'replayed' | 'kept',
  row: ProcessRow,
): Promise<'signalled' | 'alreadyEnded' | 'stale' | 'recorded'> {
  if (hasEnded(row.record)) return how === 'appended' ? 'signalled' : 'alreadyEnded'
  if (row.record.recovery === 'external')
    return row.record.stopRequest?.deliveredAt === undefined ? 'recorded' : 'signalled'
  if (row.holder === null) return 'signalled'
  const holder = await edges.store.ask({ ask: 'holder', id: row.holder })
  const silent = isDead(holder, holder === null ? 'dead' : edges.prove(holder))
  return silent ? 'stale' : 'signalled'
}

function none(): StopReport {
  return { matched: 0, signalled: [], alreadyEnded: [], stale: [], unrecorded: [], recorded: [], failed: [] }
}
