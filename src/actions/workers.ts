import { EMPTY_ENVIRONMENT } from '../core/environment/environment.ts'
import { RefusedError } from '../core/errors.ts'
import { type HolderRow, isDead, type Served } from '../core/lease/holder.ts'
import { holds } from '../core/lease/lease.ts'
import { BUILT_IN_WORKFLOWS } from '../core/memory/memory-spec.ts'
import { placementsOf } from '../core/placement/placement.ts'
import { type StoredEvent, typedEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Kind } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { refusal } from '../core/refusal.ts'
import { builtInName } from '../core/tool/built-in-name.ts'
import type { ToolDeclaration } from '../core/tool/declaration.ts'
import { Attempt } from '../kernel/attempt.ts'
import { claimAnnounced } from '../kernel/claim.ts'
import { renew, retire } from '../kernel/holders.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { PAGE_BYTES } from '../kernel/page.ts'
import { park } from '../kernel/park.ts'
import type { OutputOf, ParsedInputOf } from '../verbs/reeve.ts'
import { spawn } from '../verbs/spawn.ts'
import { type ActionParts, type ActionsFor, permitOnStore, permitOrAudit } from './action.ts'
import { checkJson, parse } from './parse.ts'
import { spawnChild } from './spawn.ts'

const PAGE = 100
/** How long reads of an environment are retried while the store is unavailable. */
const ENVIRONMENT_MS = 5_000
/** A proxy between worker and daemon may cut longer requests. */
const MAX_CLAIM_MS = 60_000

/**
 * Workers: programs elsewhere that execute workflows and tools of this store. Each worker is a holder of its own and has no state here, so
 * it may continue with another daemon.
 */
export function workerActions(
  parts: ActionParts,
): ActionsFor<'announceWorker' | 'claimWork' | 'doWork' | 'retireWorker' | 'workflows' | 'tools'> {
  const { kernel } = parts
  const { edges } = kernel
  const { store, clock } = edges
  return {
    async workflows() {
      permitOnStore(parts, 'read')
      const counts = countNames(await liveServed(kernel, 'workflow'))
      return { workflows: [...counts].filter(isOfProgram).map(([name, workers]) => ({ name, workers })) }
    },
    async tools() {
      permitOnStore(parts, 'read')
      const served = await liveServed(kernel, 'tool')
      const declared = new Map(served.flatMap(({ tools = [] }) => tools.map((tool) => [tool.name, tool])))
      const names = [...countNames(served)].filter(([name]) => builtInName(name) === null)
      const tools = names.map(([name, workers]) => {
        const { name: _, ...declaration } = declared.get(name) ?? { name }
        return { name, workers, declaration: 'description' in declaration ? declaration : null }
      })
      return { tools }
    },
    async announceWorker({ worker, workflows, tools }) {
      await permitOrAudit(parts, 'announceWorker')
      const { position } = kernel.feed
      const { renewMs, ttlMs } = kernel.times
      await renew(edges, holderOf(worker, workflows, tools), kernel.times)
      return { renewMs, ttlMs, position }
    },
    async claimWork({ worker, known, limit, timeoutMs }, { signal }) {
      await permitOrAudit(parts, 'claimWork')
      const by = clock.now() + Math.min(timeoutMs, MAX_CLAIM_MS)
      for (;;) {
        const listener = listenForWork(kernel, signal)
        try {
          const { rows, lost, due } = await claimFor(kernel, worker, known, limit)
          const left = Math.min(due ?? by, by) - clock.now()
          // The worker has gone: it would not execute them.
          if (signal?.aborted) await giveBack(kernel, worker, rows)
          if (rows.length > 0 || lost.length > 0 || by <= clock.now() || signal?.aborted || kernel.isClosed)
            return { work: rows.map(({ record, fence }) => ({ record, fence })), lost: [...lost] }
          await listener.within(Math.max(1, left))
        } finally {
          listener.stop()
        }
      }
    },
    async doWork({ worker, pid, fence, act }) {
      await permitOrAudit(parts, 'doWork')
      return performForWorker(kernel, pid, { holder: worker, fence }, act)
    },
    async retireWorker({ worker }) {
      await permitOrAudit(parts, 'retireWorker')
      // From now on it serves nothing, so a claim that is under way gets no work.
      await renew(edges, holderOf(worker, [], []), kernel.times)
      for (;;) {
        const { items } = await store.ask({ ask: 'held', holder: worker, after: null, limit: PAGE })
        if (items.length === 0) break
        await giveBack(kernel, worker, items)
      }
      await retire(edges, worker)
      return {}
    },
  }
}

async function giveBack(kernel: Kernel, worker: string, rows: readonly ProcessRow[]): Promise<void> {
  const asked = { actor: `kernel:${kernel.id}`, at: kernel.edges.clock.now() } as const
  for (const { record, fence } of rows)
    await kernel.perform({ type: 'release', pid: record.pid, fence: { holder: worker, fence }, ...asked })
}

async function claimFor(
  kernel: Kernel,
  worker: string,
  known: readonly Pid[],
  limit: number,
): Promise<{
  readonly rows: readonly ProcessRow[]
  readonly lost: readonly Pid[]
  readonly due: number | null
}> {
  const { store, clock } = kernel.edges
  const holder = await store.ask({ ask: 'holder', id: worker })
  if (holder === null) throw new RefusedError(unannounced(worker))
  const { items, next } = await store.ask({
    ask: 'held',
    holder: worker,
    after: null,
    limit: known.length + limit,
  })
  // Processes that it held before included: this kernel may have started since.
  for (const { record } of items) kernel.limitRun(record)
  const held = new Set(items.map(({ record }) => record.pid))
  // Without the last page it is not certain that a process is lost.
  const lost = next === null ? known.filter((pid) => !held.has(pid)) : []
  const executed = new Set(known)
  const forgotten = items.filter(({ record }) => !executed.has(record.pid))
  if (forgotten.length > 0 || lost.length > 0) return { rows: forgotten, lost, due: null }
  const here = placementsOf([holder])
  const asked = { serves: holder.serves, here, at: clock.now() }
  if (holder.serves.length === 0) return { rows: [], lost, due: null }
  const pids = await store.ask({ ask: 'claimable', ...asked, limit })
  const rows = pids.length === 0 ? [] : await claimAnnounced(kernel.edges, pids, { holder: worker, here })
  if (rows === 'unannounced') throw new RefusedError(unannounced(worker))
  for (const { record } of rows) kernel.limitRun(record)
  return { rows, lost, due: rows.length > 0 ? null : await store.ask({ ask: 'nextDue', ...asked }) }
}

async function performForWorker(
  kernel: Kernel,
  pid: Pid,
  fence: { readonly holder: string; readonly fence: number },
  act: ParsedInputOf<'doWork'>['act'],
): Promise<OutputOf<'doWork'>> {
  const { edges } = kernel
  const asked = { pid, actor: `process:${pid}`, at: edges.clock.now(), fence } as const
  switch (act.type) {
    case 'key':
      return { type: 'said', text: await kernel.waits.keyOf(pid, act.wait) }
    case 'seed':
      return { type: 'said', text: edges.sign(await edges.store.ask({ ask: 'secret' }), `${pid}.chance`) }
    case 'events': {
      const row = await edges.store.ask({ ask: 'process', pid })
      if (row === null || !holds(row, fence)) throw new RefusedError(notHeld(pid, fence.holder))
      const { after, limit } = act
      const events = await edges.store.ask({ ask: 'events', pid, after, limit, bytes: PAGE_BYTES })
      return { type: 'events', events: events.map(typedEvent) }
    }
    case 'environment': {
      const row = await edges.store.ask({ ask: 'process', pid })
      if (row === null || !holds(row, fence)) throw new RefusedError(notHeld(pid, fence.holder))
      const environment = await kernel.environmentOf(row.record, AbortSignal.timeout(ENVIRONMENT_MS))
      return { type: 'environment', environment: environment ?? EMPTY_ENVIRONMENT }
    }
    case 'park': {
      const work = await attemptOf(kernel, pid, fence)
      return { type: (await park(edges, work, act.waits)) ? 'parked' : 'not_parked' }
    }
    case 'spawn': {
      const request = { ...act.request, parent: pid, idempotencyKey: `step:${act.stepIndex}` }
      const work = await attemptOf(kernel, pid, fence)
      const child = await spawnChild(kernel, work, parse(spawn.input, request, 'spawn'), act.stepIndex)
      return { type: 'spawned', pid: child.pid, kind: child.kind, label: child.identity.label }
    }
    case 'spawn_child': {
      const request = { ...act.request, parent: pid, idempotencyKey: `child:${act.number}` }
      const work = await attemptOf(kernel, pid, fence)
      return { type: 'child', record: await spawnChild(kernel, work, parse(spawn.input, request, 'spawn')) }
    }
    case 'append':
      checkJson(act.payload, 'payload')
      return answerOf(await kernel.perform({ ...asked, ...act }))
    case 'end': {
      const { type: _, ...ending } = act
      checkJson(act.result ?? null, 'result')
      const replayKey = `end:${fence.fence}`
      return answerOf(await kernel.perform({ ...asked, type: 'end', ending, replayKey }))
    }
    default:
      return answerOf(await kernel.perform({ ...asked, ...act }))
  }
}

function answerOf(done: Awaited<ReturnType<Kernel['perform']>>): OutputOf<'doWork'> {
  return done.type === 'replayed'
    ? { type: 'replayed', event: typedEvent(done.event) }
    : { type: done.type, at: done.row.record.updatedAt }
}

async function attemptOf(
  kernel: Kernel,
  pid: Pid,
  fence: { holder: string; fence: number },
): Promise<Attempt> {
  const row = await kernel.edges.store.ask({ ask: 'process', pid })
  if (row === null)
    throw new RefusedError(refusal('unknown_pid', `There is no process ${pid}.`, 'Stop working on it.'))
  return new Attempt(row.record, fence.holder, fence.fence)
}

/** The machine of a worker is unknown, so its death cannot be proved: only its row tells. */
function holderOf(
  worker: string,
  workflows: readonly string[],
  tools: readonly ToolDeclaration[],
): Omit<HolderRow, 'renewedAt' | 'expired'> {
  return {
    id: worker,
    role: 'worker',
    incarnation: worker,
    host: '',
    boot: '',
    pidNamespace: '',
    osPid: 0,
    startTime: '',
    serves: [
      ...(workflows.length === 0 ? [] : [{ kind: 'workflow', targets: workflows } as const]),
      ...(tools.length === 0
        ? []
        : [{ kind: 'tool', targets: tools.map(({ name }) => name), tools } as const]),
    ],
  }
}

async function liveServed({ edges }: Kernel, kind: Kind): Promise<readonly Served[]> {
  const holders = await edges.store.ask({ ask: 'holders' })
  const live = holders.filter((holder) => !isDead(holder, edges.prove(holder)))
  return live.flatMap(({ serves }) => serves.filter((served) => served.kind === kind))
}

/** A workflow of Reeve itself is not for callers. */
function isOfProgram([name]: readonly [string, number]): boolean {
  return !name.startsWith(BUILT_IN_WORKFLOWS)
}

/** How many holders serve each name, in order of the names. */
function countNames(served: readonly Served[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const name of served.flatMap(({ targets }) => targets ?? []).sort())
    counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

/** Listens for events that may make work. It subscribes before it queries the store, so that no event is missed. */
function listenForWork(kernel: Kernel, signal: AbortSignal | undefined) {
  const heard = Promise.withResolvers<void>()
  const off = kernel.feed.onAll((events) => {
    if (events.some(mayBeWork)) heard.resolve()
  })
  const offStop = kernel.feed.onStop(heard.resolve)
  signal?.addEventListener('abort', () => heard.resolve(), { once: true })
  let cancel = () => {}
  return {
    within(ms: number): Promise<void> {
      cancel = kernel.edges.clock.after(ms, heard.resolve)
      return heard.promise
    },
    stop() {
      cancel()
      off()
      offStop()
    },
  }
}

const MAKES_WORK: ReadonlySet<string> = new Set([
  'registered',
  'holder_lost',
  'released',
  'resumed',
  'wait_left',
])

function mayBeWork({ type }: StoredEvent): boolean {
  return MAKES_WORK.has(type)
}

function notHeld(pid: Pid, worker: string) {
  return refusal('stale_fence', `${worker} does not hold ${pid}, or not any more.`, 'Stop working on it.')
}

function unannounced(worker: string) {
  return refusal(
    'not_found',
    `There is no worker ${worker}, or not any more.`,
    'Announce it, and claim again.',
  )
}
