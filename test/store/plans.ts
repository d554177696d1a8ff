/** Small plans, made with the core's fold: they exercise a store without a kernel. */
import type { Change } from '../../src/core/change.ts'
import type { Json } from '../../src/core/json/json.ts'
import type { Holder } from '../../src/core/lease/holder.ts'
import { newEvent } from '../../src/core/process/decision.ts'
import { fold } from '../../src/core/process/fold.ts'
import { type Pid, pidFrom } from '../../src/core/process/pid.ts'
import type { Registration } from '../../src/core/process/record.ts'
import type { ProcessRow } from '../../src/core/process/row.ts'
import { know, type Plan, type Store, unchanged } from '../../src/store/contract.ts'

export const AT = 1_700_000_000_000

export function newPid(): Pid {
  return pidFrom(crypto.getRandomValues(new Uint8Array(12)))
}

export function registration(pid: Pid, more: Partial<Registration> = {}): Registration {
  return {
    pid,
    name: null,
    kind: 'workflow',
    spec: { workflow: 'publish' },
    label: 'publish',
    definition: null,
    parent: null,
    root: pid,
    depth: 0,
    restartOf: null,
    group: null,
    owner: {},
    originator: 'host',
    causedBy: null,
    replyTo: null,
    lifetime: 'daemon',
    recovery: 'rerunnable',
    placement: null,
    envRef: null,
    cwd: null,
    eventTypes: { note: { schema: {} }, count: { schema: {}, facet: 'count' } },
    registrationHash: `hash of ${pid}`,
    wakeTarget: null,
    limits: { attempts: 5, depth: 32 },
    ...more,
  }
}

/** The answer says whether this call created it. */
export function register(
  pid: Pid,
  more: Partial<Registration> = {},
): Plan<'registered' | 'existing' | 'pruned'> {
  return function* () {
    const existing = yield* know({ ask: 'process', pid })
    if (existing !== null) return unchanged('existing')
    if ((yield* know({ ask: 'tombstone', pid })) !== null) return unchanged('pruned')
    const events = [newEvent({ type: 'registered', payload: registration(pid, more) })]
    return { answer: 'registered', changes: changesOf(pid, null, events) }
  }
}

/** Does not read first: if the pid exists, no store can hold the change. */
export function registerUnasked(pid: Pid): Plan<void> {
  return function* () {
    yield []
    const events = [newEvent({ type: 'registered', payload: registration(pid) })]
    return { answer: undefined, changes: changesOf(pid, null, events) }
  }
}

/** Answers with the event's seq; if the replay key was used before, with that of the first event. */
export function append(
  pid: Pid,
  payload: Json,
  options: { type?: string; replayKey?: string } = {},
): Plan<number> {
  return function* () {
    const { type = 'note', replayKey = null } = options
    const row = yield* know({ ask: 'process', pid })
    if (row === null) throw new Error(`no ${pid}`)
    if (replayKey !== null) {
      const replayed = yield* know({ ask: 'event', pid, replayKey })
      if (replayed !== null) return unchanged(replayed.seq)
    }
    const changes = changesOf(pid, row, [{ type, payload, replayKey }])
    return { answer: row.record.revision + 1, changes }
  }
}

/** Reads a number and writes the next one: detects a lost update. */
export function increment(pid: Pid): Plan<number> {
  return function* () {
    const row = yield* know({ ask: 'process', pid })
    if (row === null) throw new Error(`no ${pid}`)
    const count = Number(row.record.facets['count'] ?? 0) + 1
    return {
      answer: count,
      changes: changesOf(pid, row, [{ type: 'count', payload: count, replayKey: null }]),
    }
  }
}

/** Appends an event whose process refers to these blobs from then on. */
export function referTo(pid: Pid, added: readonly string[]): Plan<void> {
  return function* () {
    const row = yield* know({ ask: 'process', pid })
    if (row === null) throw new Error(`no ${pid}`)
    const changes = changesOf(pid, row, [{ type: 'note', payload: null, replayKey: null }])
    return {
      answer: undefined,
      changes: changes.map((change) =>
        change.type === 'process' ? { ...change, blobs: { added, removed: [] } } : change,
      ),
    }
  }
}

export function claim(pid: Pid, holder: string): Plan<number | 'busy'> {
  return function* () {
    const row = yield* know({ ask: 'process', pid })
    if (row === null) throw new Error(`no ${pid}`)
    if (row.holder !== null) return unchanged('busy')
    const claimed = { ...row, holder, fence: row.fence + 1 }
    return { answer: claimed.fence, changes: [{ type: 'process', was: row, row: claimed, events: [] }] }
  }
}

export function release(pid: Pid): Plan<void> {
  return function* () {
    const row = yield* know({ ask: 'process', pid })
    if (row === null) throw new Error(`no ${pid}`)
    const changes: Change[] = [{ type: 'process', was: row, row: { ...row, holder: null }, events: [] }]
    return { answer: undefined, changes }
  }
}

/** The answer says whether the holder was known before. */
export function announce(id: string, ttlMs: number): Plan<boolean> {
  return function* () {
    const known = yield* know({ ask: 'holder', id })
    const holder: Holder = {
      id,
      role: 'kernel',
      host: 'host',
      boot: 'boot',
      pidNamespace: 'namespace',
      osPid: 1,
      startTime: '1',
      incarnation: id,
      serves: [],
    }
    return { answer: known !== null, changes: [{ type: 'holder', holder, ttlMs }] }
  }
}

export function end(pid: Pid, at = AT): Plan<void> {
  return function* () {
    const row = yield* know({ ask: 'process', pid })
    if (row === null) throw new Error(`no ${pid}`)
    const outcome = {
      status: 'completed',
      exitCode: 0,
      signal: null,
      reason: null,
      source: null,
      result: null,
      evidence: null,
      startedAt: null,
      endedAt: at,
    }
    const changes = changesOf(pid, row, [newEvent({ type: 'ended', payload: outcome, replayKey: 'end' })], at)
    return { answer: undefined, changes }
  }
}

export function prune(keep: number): Plan<readonly Pid[]> {
  return function* () {
    const through = yield* know({ ask: 'pruneThrough', endedBefore: null, keep })
    if (through === null) return unchanged([])
    const rows = yield* know({ ask: 'prunable', after: null, through, limit: 100 })
    const tombstones = rows.map(({ pid, fence, endedAt }) => ({
      pid,
      fence,
      endedAt: endedAt ?? 0,
      prunedAt: AT,
    }))
    return { answer: rows.map(({ pid }) => pid), changes: [{ type: 'prune', tombstones }] }
  }
}

/** The feed after a position, page by page. */
export async function feed(store: Store, after = 0, limit = 97) {
  const all = []
  for (let cursor = after; ; ) {
    const { events } = await store.ask({ ask: 'changes', after: cursor, limit })
    if (events.length === 0) return all
    all.push(...events)
    cursor = events.at(-1)?.position ?? cursor
  }
}

function changesOf(
  pid: Pid,
  was: ProcessRow | null,
  events: readonly { type: string; payload: Json; replayKey: string | null }[],
  at = AT,
): Change[] {
  return fold({ pid, was, group: null, events, lease: undefined, actor: 'host', at }).changes
}
