import { isVisible, visibilityOf } from '../core/authority/visibility.ts'
import type { Json } from '../core/json/json.ts'
import { asJson, sizeOf } from '../core/json/json.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { sessionsOf } from '../core/session/sessions-above.ts'
import { isOwnDoing, matchesEvent } from '../core/trigger/match.ts'
import { chainNamedBy, type EventSource, type Trigger, triggersOfSessions } from '../core/trigger/trigger.ts'
import type { Changes } from '../store/contract.ts'
import { deliver, type Happening } from './deliveries.ts'
import type { Edges } from './edges.ts'
import type { Feed } from './feed.ts'
import { performOne } from './perform.ts'
import { WorkingRows } from './working-rows.ts'

/** Events of one question. */
const PAGE = 500
/** Deliveries of one commit. */
const MAX_AT_ONCE = 50
/** A position without deliveries is stored after so many events: that many are read again after a crash, and not acted on again. */
const STORE_EVERY = 1_000
/** A larger payload of an event is left out: the process can read the event. */
const MAX_EVENT_PAYLOAD = 32 * 1024
const RETRY_MS = 1_000

/**
 * Reads the change feed for triggers on events. The position of each trigger is in its row, and moves in the commit of its
 * deliveries. So no event is lost in a crash, and several kernels may read at once: a delivery behind the position is made once.
 *
 * | state   | look()            | page read                                              |
 * | idle    | looking           | –                                                      |
 * | looking | noted: look again | deliveries; then the next page, or idle                |
 */
export class EventTriggers {
  readonly #edges: Edges
  readonly #feed: Feed
  readonly #registerOpen: (trigger: Trigger) => Promise<unknown>
  #followed: readonly Trigger[] = []
  /** How far this kernel has read for each trigger, at least its stored position. */
  #readThrough = new Map<string, number>()
  #types: ReadonlySet<string> = new Set()
  /** The queue of a trigger is full: any event may be the end that makes room. */
  #isStalled = false
  #looking: Promise<void> | undefined
  #isLookWanted = false
  #isClosed = false
  #stop: (() => void) | undefined

  constructor(edges: Edges, feed: Feed, registerOpen: (trigger: Trigger) => Promise<unknown>) {
    this.#edges = edges
    this.#feed = feed
    this.#registerOpen = registerOpen
  }

  start(): void {
    this.#stop = this.#feed.onAll((events) => {
      if (this.#isStalled || events.some(({ type }) => this.#types.has(type))) this.#lookSoon()
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#stop?.()
    await this.#looking?.catch(() => undefined)
  }

  /** Resolves when all events up to now were read for these triggers. */
  async follow(triggers: readonly Trigger[]): Promise<void> {
    this.#followed = triggers.filter(({ source }) => source.type === 'event')
    this.#types = new Set(this.#followed.flatMap(({ source }) => (source.type === 'event' ? source.on : [])))
    const known = this.#readThrough
    this.#readThrough = new Map()
    for (const { id, key } of this.#followed)
      this.#readThrough.set(`${id} ${key}`, known.get(`${id} ${key}`) ?? 0)
    if (this.#followed.length > 0) await this.#look()
  }

  #lookSoon(): void {
    this.#look().catch((error: unknown) => {
      if (this.#isClosed) return
      this.#edges.onTrouble(error, 'reading events for triggers')
      this.#edges.clock.after(RETRY_MS, () => this.#lookSoon())
    })
  }

  async #look(): Promise<void> {
    if (this.#isClosed) return
    this.#isLookWanted = true
    this.#looking ??= this.#lookWhileWanted().finally(() => {
      this.#looking = undefined
    })
    await this.#looking
  }

  async #lookWhileWanted(): Promise<void> {
    while (this.#isLookWanted && !this.#isClosed) {
      this.#isLookWanted = false
      this.#isStalled = false
      const pages = new Map<number, Changes>()
      const records = new Records(this.#edges)
      for (const { id } of this.#followed) await this.#readFor(id, pages, records)
    }
  }

  /** Reads to the end of the feed. Triggers that are at one position share its page. */
  async #readFor(id: string, pages: Map<number, Changes>, records: Records): Promise<void> {
    const trigger = await this.#edges.store.ask({ ask: 'trigger', id })
    if (trigger === null || trigger.paused !== null || trigger.state.type !== 'event') return
    const { source } = trigger
    if (source.type !== 'event') return
    const key = `${id} ${trigger.key}`
    let position = Math.max(trigger.state.position, this.#readThrough.get(key) ?? 0)
    let stored = trigger.state.position
    while (!this.#isClosed) {
      const page = pages.get(position) ?? (await this.#page(position))
      pages.set(position, page)
      const { events } = page
      const through = events.at(-1)?.position ?? position
      const matching: { readonly event: StoredEvent; readonly happening: Happening }[] = []
      let read = through
      for (const event of events) {
        if (!source.on.includes(event.type)) continue
        const happening = await this.#happeningOf(trigger, source, event, records)
        if (happening !== null) matching.push({ event, happening })
        if (matching.length < MAX_AT_ONCE) continue
        read = event.position
        break
      }
      if (matching.length > 0 || read - stored >= STORE_EVERY) {
        const done = await this.#deliver(trigger, matching, read)
        if (done === null) return
        stored = done
        if (done < read) {
          this.#isStalled = true
          return
        }
      }
      position = read
      this.#readThrough.set(key, position)
      if (events.length < PAGE && read === through) return
    }
  }

  #page(after: number): Promise<Changes> {
    return this.#edges.store.ask({ ask: 'changes', after, limit: PAGE })
  }

  async #happeningOf(
    trigger: Trigger,
    source: EventSource,
    event: StoredEvent,
    records: Records,
  ): Promise<Happening | null> {
    const record = await records.of(event.pid)
    // A pruned process had ended long before: its events were read then, unless no kernel ran for that long.
    if (record === null || !matchesEvent(source, event, record)) return null
    if (!isVisible(record, visibilityOf(trigger.createdBy), false)) return null
    const chain = await records.chainOf(record)
    if (isOwnDoing(trigger.id, record, chain)) return null
    return { id: `event:${event.position}`, payload: payloadOf(event, record), chain }
  }

  /** Returns the stored position, which is before `through` if the queue is full; null if the trigger is gone or another one now. */
  async #deliver(
    { id, key, revision }: Trigger,
    matching: readonly { readonly event: StoredEvent; readonly happening: Happening }[],
    through: number,
  ): Promise<number | null> {
    const edges = this.#edges
    const answer = await edges.store.write<{ position: number; trigger: Trigger } | null>(function* () {
      const rows = new WorkingRows()
      const plan = { edges, rows, performOne }
      const was = yield* rows.trigger(id)
      const isSame = was?.key === key && was.revision === revision && was.paused === null
      if (!isSame || was.state.type !== 'event') return { answer: null, changes: [] }
      const from = was.state.position
      let position = Math.max(from, through)
      for (const { event, happening } of matching) {
        if (event.position <= from) continue
        const delivered = yield* deliver(plan, id, happening, true, edges.clock.now())
        if (delivered.type !== 'full') continue
        position = event.position - 1
        break
      }
      const now = (yield* rows.trigger(id)) ?? was
      const moved: Trigger = { ...now, state: { type: 'event', position } }
      if (position !== from || now !== was) rows.add([{ type: 'trigger', was: now, trigger: moved }])
      return { answer: { position, trigger: moved }, changes: rows.changes }
    })
    if (answer === null) return null
    if (answer.trigger.isOpen) await this.#registerOpen(answer.trigger)
    return answer.position
  }
}

/** The records of one look, so that each is read once. */
class Records {
  readonly #edges: Edges
  readonly #known = new Map<Pid, ProcessRecord | null>()

  constructor(edges: Edges) {
    this.#edges = edges
  }

  async of(pid: Pid): Promise<ProcessRecord | null> {
    const known = this.#known.get(pid)
    if (known !== undefined) return known
    const record = (await this.#edges.store.ask({ ask: 'process', pid }))?.record ?? null
    if (this.#known.size >= PAGE) this.#known.clear()
    this.#known.set(pid, record)
    return record
  }

  /** The triggers that led to a process: those of its root, which an occurrence is. */
  async chainOf(record: ProcessRecord): Promise<readonly string[]> {
    const inSessions = triggersOfSessions(sessionsOf(record))
    if (inSessions.length === 0) return []
    const root = record.root === record.pid ? record : await this.of(record.root)
    const named = root === null ? [] : chainNamedBy(root.causedBy)
    return [...new Set([...named, ...inSessions])]
  }
}

function payloadOf(
  { type, pid, seq, position, at, payload }: StoredEvent,
  { kind, name, identity, status }: ProcessRecord,
) {
  const isLarge = sizeOf(payload) > MAX_EVENT_PAYLOAD
  const event: { readonly [member: string]: Json } = {
    ...{ type, pid, seq, position, at },
    ...(isLarge ? { payloadLeftOut: true } : { payload }),
  }
  return asJson({ type: 'event', event, process: { pid, kind, name, label: identity.label, status } })
}
