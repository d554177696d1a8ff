import { RefusedError } from '../core/errors.ts'
import { sameJson } from '../core/json/canonical.ts'
import { asJson, type Json, type JsonObject } from '../core/json/json.ts'
import { isPlacedAt, type Placement } from '../core/placement/placement.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor } from '../core/process/record.ts'
import type { ProcessRow } from '../core/process/row.ts'
import { isRefusal, type Refusal, refusal } from '../core/refusal.ts'
import { boundAfterEdit, rightsFor, rightsOf } from '../core/schedule/occurrence-rights.ts'
import { queueFull, refuseTrigger, triggerPaused, triggerUnknown } from '../core/trigger/decide-trigger.ts'
import type { Delivered, Delivery } from '../core/trigger/delivery.ts'
import { matchesBody } from '../core/trigger/match.ts'
import { occurrenceOfDelivery } from '../core/trigger/occurrence-request.ts'
import {
  deliveryText,
  type FileSet,
  MAX_QUEUED_DELIVERIES,
  NO_TRIGGER_COUNTS,
  type SourceState,
  type Trigger,
  type TriggerDefinition,
  type TriggerSource,
  triggerSession,
  webhookText,
} from '../core/trigger/trigger.ts'
import { know } from '../store/contract.ts'
import {
  creatorOf,
  environmentUses,
  openDefinitionSession,
  placedRequest,
  refuseDefinition,
  refuseEnded,
} from './definition-scope.ts'
import { addDelivery, deliver, pauseTrigger, startWaiting, TRIGGERS } from './deliveries.ts'
import type { Edges } from './edges.ts'
import { EventTriggers } from './event-triggers.ts'
import type { Feed } from './feed.ts'
import { FileTriggers } from './file-triggers.ts'
import type { Kernel } from './kernel.ts'
import type { OccurrencePlan } from './occurrences.ts'
import { performOne } from './perform.ts'
import type { PlanPart } from './plan-part.ts'
import { orThrow } from './sessions.ts'
import { WorkingRows } from './working-rows.ts'

const PAGE = 100
const MINUTE_MS = 60_000
/** Why a request to a webhook was refused, with its trigger, for one minute: each is stored once. */
const MAX_NOTED_REJECTIONS = 1_000

export type TriggerEdit = Partial<TriggerDefinition> & {
  /** Of a webhook: the secret is replaced, and the old one is no longer accepted. */
  readonly rotatesSecret?: boolean
}

/** A trigger, with the secret of its webhook if it was made just now. */
export interface ChangedTrigger {
  readonly trigger: Trigger
  readonly secret: string | null
}

/** The acts on triggers, and the sources that start their processes. */
export class Triggers {
  readonly #edges: Edges
  readonly #kernel: Kernel
  readonly #here: () => readonly Placement[]
  readonly #events: EventTriggers
  readonly #files: FileTriggers
  readonly #noted = new Set<string>()

  constructor(edges: Edges, kernel: Kernel, feed: Feed, here: () => readonly Placement[]) {
    this.#edges = edges
    this.#kernel = kernel
    this.#here = here
    this.#events = new EventTriggers(edges, feed, (trigger) => this.#registerOpen(trigger))
    this.#files = new FileTriggers(edges, here, (trigger) => this.#registerOpen(trigger))
  }

  start(): void {
    this.#events.start()
  }

  async close(): Promise<void> {
    await Promise.all([this.#events.close(), this.#files.close()])
  }

  /** Adding a trigger again changes nothing; with another definition it is a conflict. */
  async add(actor: Actor, id: string, asked: TriggerDefinition): Promise<ChangedTrigger> {
    const session = triggerSession(id)
    const { parentSession, ceilings } = await creatorOf(this.#edges, actor)
    const definition = this.#placed(asked)
    const invalid = refuseTrigger(definition) ?? refuseFilesOf(actor, definition.source)
    if (invalid !== undefined) throw new RefusedError(invalid)
    const files = await this.#lookAt(definition.source)
    const known = await this.#edges.store.ask({ ask: 'trigger', id })
    if (known === null)
      await openDefinitionSession(this.#edges, actor, session, `trigger ${id}`, parentSession)
    const key = this.#edges.newId()
    let isNew = false
    const trigger = await this.#change(actor, 'addTrigger', id, function* (plan, was, at) {
      isNew = was === null
      if (was !== null) return isSameDefinition(was, definition) ? was : alreadyThere(was)
      const added: Trigger = {
        ...definition,
        ...{ id, key, session, ceilings, revision: 1, createdBy: actor, createdAt: at, editedAt: at },
        ...{ paused: null, deliveries: 0, queue: [], isOpen: false, running: [], last: null },
        state: yield* firstState(definition.source, files, null),
        counts: NO_TRIGGER_COUNTS,
      }
      plan.rows.add([{ type: 'trigger', was: null, trigger: added }, ...environmentUses(added)])
      return added
    })
    await this.#refresh()
    return { trigger, secret: isNew ? await this.#secretOf(trigger) : null }
  }

  /** An edit counts from the next delivery on, and for those that wait. Another source begins anew. */
  async edit(
    actor: Actor,
    id: string,
    { rotatesSecret = false, ...changes }: TriggerEdit,
  ): Promise<ChangedTrigger> {
    const { ceilings } = await creatorOf(this.#edges, actor)
    const { source } = changes
    const known = await this.#edges.store.ask({ ask: 'trigger', id })
    const refusedFiles = refuseFilesOf(actor, source ?? known?.source)
    if (refusedFiles !== undefined) throw new RefusedError(refusedFiles)
    const files = source === undefined ? undefined : await this.#lookAt(source)
    const here = this.#here()
    let secretVersion: number | null = null
    const trigger = await this.#change(actor, 'editTrigger', id, function* (plan, was, at) {
      if (was === null) return triggerUnknown(id)
      const definition: TriggerDefinition = {
        ...definitionOf(was),
        ...changes,
        ...(changes.request === undefined ? {} : { request: placedRequest(changes.request, here) }),
      }
      const invalid = refuseTrigger(definition) ?? refuseRotation(definition.source, rotatesSecret)
      if (invalid !== undefined) return invalid
      // The same source once more goes on where it is: what was not read yet must not be lost.
      const isSame = source === undefined || sameJson(asJson(source), asJson(was.source))
      const state = isSame ? was.state : yield* firstState(source, files, was.state)
      const isRotated = rotatesSecret && state.type === 'webhook'
      const hasNewSecret = isRotated || (state.type === 'webhook' && was.state.type !== 'webhook')
      const next = isRotated ? { ...state, secretVersion: state.secretVersion + 1 } : state
      secretVersion = hasNewSecret && next.type === 'webhook' ? next.secretVersion : null
      const edited: Trigger = {
        ...was,
        ...definition,
        ...boundAfterEdit(was, { actor, ceilings }, changes.request !== undefined),
        ...{ revision: was.revision + 1, editedAt: at, state: next },
        isOpen: false,
      }
      plan.rows.add([{ type: 'trigger', was, trigger: edited }, ...environmentUses(edited)])
      yield* startWaiting(plan, id, at)
      return (yield* plan.rows.trigger(id)) ?? edited
    })
    await this.#refresh()
    return {
      trigger: await this.#registerOpen(trigger),
      secret: secretVersion === null ? null : await this.#secretOf(trigger),
    }
  }

  pause(actor: Actor, id: string, note: string | null): Promise<Trigger> {
    return this.#change(actor, 'pauseTrigger', id, function* (plan, was, at) {
      yield* nothing()
      if (was === null) return triggerUnknown(id)
      return was.paused !== null ? was : pauseTrigger(plan, was, note ?? '', at, actor)
    })
  }

  /** Deliveries that wait start now. Events and changes of files during the pause start nothing. */
  async resume(actor: Actor, id: string): Promise<Trigger> {
    const resumed = await this.#change(actor, 'resumeTrigger', id, function* (plan, was, at) {
      if (was === null) return triggerUnknown(id)
      if (was.paused === null) return was
      const ended = yield* refuseEnded({ noun: 'trigger', id }, was.session)
      if (ended !== undefined) return ended
      const state: SourceState =
        was.state.type === 'event'
          ? { type: 'event', position: yield* feedPosition() }
          : was.state.type === 'files'
            ? { ...was.state, set: null }
            : was.state
      plan.rows.add([{ type: 'trigger', was, trigger: { ...was, paused: null, state } }])
      yield* startWaiting(plan, id, at)
      return (yield* plan.rows.trigger(id)) ?? was
    })
    await this.#refresh()
    return this.#registerOpen(resumed)
  }

  /** Occurrences that run go on. Deliveries that wait are removed with the trigger. */
  async remove(actor: Actor, id: string): Promise<void> {
    await this.#change(actor, 'removeTrigger', id, function* (plan, was) {
      yield* nothing()
      if (was === null) return triggerUnknown(id)
      plan.rows.add([{ type: 'trigger_gone', id }])
      return was
    })
    await this.#refresh()
  }

  /** Starts the process now with a payload for a test, besides the occurrences of the trigger. */
  async run(actor: Actor, id: string, body: Json, idempotencyKey: string | undefined): Promise<ProcessRow> {
    const trigger = await this.#change(actor, 'runTrigger', id, function* (_plan, was) {
      yield* nothing()
      return was ?? triggerUnknown(id)
    })
    const payload: JsonObject = { type: 'run', body }
    // Without a time: a repeated call must make the same request.
    const { request, ...occurrence } = occurrenceOfDelivery(trigger, { id: 'run', payload, chain: [] })
    const { ceilings } = await creatorOf(this.#edges, actor)
    const key = idempotencyKey === undefined ? {} : { idempotencyKey }
    const [registered] = await this.#kernel.register([
      {
        ...occurrence,
        request: { ...request, causedBy: { ...request.causedBy, runBy: actor } },
        ...rightsFor({ actor, ceilings }, trigger),
        ...key,
      },
    ])
    if (registered === undefined || registered.type === 'refused')
      throw new Error(`A run of ${id} without an answer`)
    return registered.row
  }

  async show(actor: Actor, id: string): Promise<Trigger> {
    const session = triggerSession(id)
    const [trigger, found] = await Promise.all([
      this.#edges.store.ask({ ask: 'trigger', id }),
      this.#edges.store.ask({ ask: 'session', id: session }),
    ])
    const sessionsAbove = found?.sessionsAbove ?? []
    const denied = this.#edges.authorize(actor, 'read', { type: 'session', id: session, sessionsAbove })
    if (denied !== undefined) throw new RefusedError(denied)
    if (trigger === null) throw new RefusedError(triggerUnknown(id))
    return trigger
  }

  list(after: string | null, limit: number): Promise<readonly Trigger[]> {
    return this.#edges.store.ask({ ask: 'triggers', after, limit })
  }

  /** The newest first. */
  async deliveries(
    actor: Actor,
    id: string,
    page: { readonly before: number | null; readonly limit: number },
  ): Promise<readonly Delivery[]> {
    await this.show(actor, id)
    return this.#edges.store.ask({ ask: 'deliveries', trigger: id, ...page })
  }

  /** The webhook of a trigger, for the surface that receives its requests; null if there is none. */
  async webhook(
    id: string,
  ): Promise<{ readonly secret: string; readonly maxBytes: number; readonly maxPerMinute: number } | null> {
    // Also for a trigger that is not there: the answer must not take another time.
    const [trigger, ofStore] = await Promise.all([
      this.#edges.store.ask({ ask: 'trigger', id }),
      this.#edges.store.ask({ ask: 'secret' }),
    ])
    const secret = trigger === null ? null : this.#secretIn(trigger, ofStore)
    if (trigger?.source.type !== 'webhook' || secret === null) return null
    const { maxBytes, maxPerMinute } = trigger.source
    return { secret, maxBytes, maxPerMinute }
  }

  /** An authentic request to a webhook. The answer is given after the commit. */
  async receive(id: string, delivery: string, body: Json): Promise<Delivered> {
    const happening = { id: `webhook:${delivery}`, payload: { type: 'webhook', body }, chain: [] }
    const edges = this.#edges
    const act = { actor: TRIGGERS, action: 'deliver', target: `session:${triggerSession(id)}` } as const
    const [delivered, trigger] = await orThrow<readonly [Delivered, Trigger]>(edges, act, function* () {
      const rows = new WorkingRows()
      const was = yield* rows.trigger(id)
      if (was === null || was.source.type !== 'webhook') return { answer: triggerUnknown(id), changes: [] }
      const known = yield* rows.delivery(edges.pidOf(deliveryText(was, happening.id)))
      if (was.paused !== null && known === null) return { answer: triggerPaused(was), changes: [] }
      const isMatching = matchesBody(was.source.filter, body)
      const plan = { edges, rows, performOne }
      const answer = yield* deliver(plan, id, happening, isMatching, edges.clock.now())
      if (answer.type === 'full') return { answer: queueFull(id, MAX_QUEUED_DELIVERIES), changes: [] }
      return { answer: [answer, (yield* rows.trigger(id)) ?? was] as const, changes: rows.changes }
    })
    if (trigger.isOpen) await this.#registerOpen(trigger)
    return delivered
  }

  /** Notes that requests to a webhook were refused: one row for each reason and minute, so that senders cannot fill the store. */
  async reject(id: string, reason: string): Promise<void> {
    const edges = this.#edges
    const now = edges.clock.now()
    const minute = Math.floor(now / MINUTE_MS)
    const noted = `${id} ${reason} ${minute}`
    if (this.#noted.has(noted) || (await edges.store.ask({ ask: 'trigger', id })) === null) return
    if (this.#noted.size >= MAX_NOTED_REJECTIONS) this.#noted.clear()
    this.#noted.add(noted)
    await edges.store.write(function* () {
      const rows = new WorkingRows()
      const was = yield* rows.trigger(id)
      if (was === null) return { answer: undefined, changes: [] }
      const name = `rejected:${reason}:${minute}`
      const pid: Pid = edges.pidOf(deliveryText(was, name))
      if ((yield* rows.delivery(pid)) !== null) return { answer: undefined, changes: [] }
      const rejected = { pid, trigger: id, id: name, at: now, verdict: 'rejected', reason } as const
      addDelivery({ rows }, was, { ...rejected, payload: null, chain: [] }, null)
      return { answer: undefined, changes: rows.changes }
    })
  }

  /** Looks at all sources, and registers deliveries whose commands the host has to look at first. */
  async sweep(): Promise<void> {
    for (const trigger of await this.#refresh()) if (trigger.isOpen) await this.#registerOpen(trigger)
  }

  /** Reads the triggers again, and looks at the sources of all of them. */
  async #refresh(): Promise<readonly Trigger[]> {
    const all: Trigger[] = []
    for (;;) {
      const after = all.at(-1)?.id ?? null
      const page = await this.#edges.store.ask({ ask: 'triggers', after, limit: PAGE })
      all.push(...page)
      if (page.length < PAGE) break
    }
    const active = all.filter(({ paused }) => paused === null)
    this.#files.follow(active)
    await Promise.all([this.#events.follow(active), this.#files.look()])
    return active
  }

  async #registerOpen(trigger: Trigger): Promise<Trigger> {
    let found = trigger
    // Each round registers one delivery, and an edit may come in between.
    for (let round = 0; found.isOpen && found.paused === null && round < MAX_QUEUED_DELIVERIES; round++)
      found = await this.#registerFirst(found)
    return found
  }

  async #registerFirst(trigger: Trigger): Promise<Trigger> {
    const [pid = ''] = trigger.queue
    const delivery = await this.#edges.store.ask({ ask: 'delivery', pid })
    let refused: string | null = null
    if (delivery?.verdict === 'queued')
      try {
        const occurrence = occurrenceOfDelivery(trigger, delivery)
        await this.#kernel.register([{ pid, ...occurrence, ...rightsOf(trigger) }])
      } catch (error) {
        if (!(error instanceof RefusedError)) throw error
        refused = error.message
      }
    return this.#change(TRIGGERS, 'registerTrigger', trigger.id, function* (plan, was, at) {
      if (was === null || !was.isOpen || was.queue[0] !== pid) return was ?? { ...trigger, isOpen: false }
      if (refused !== null) return pauseTrigger(plan, { ...was, isOpen: false }, refused, at)
      const closed: Trigger = { ...was, isOpen: false }
      plan.rows.add([{ type: 'trigger', was, trigger: closed }])
      yield* startWaiting(plan, was.id, at)
      return (yield* plan.rows.trigger(was.id)) ?? closed
    })
  }

  async #secretOf(trigger: Trigger): Promise<string | null> {
    return this.#secretIn(trigger, await this.#edges.store.ask({ ask: 'secret' }))
  }

  /** Null for a trigger without a webhook. It follows from the secret of the store, so that no row has it. */
  #secretIn(trigger: Trigger, ofStore: string): string | null {
    if (trigger.state.type !== 'webhook') return null
    return `whsec_${this.#edges.sign(ofStore, webhookText(trigger, trigger.state.secretVersion))}`
  }

  /** The files of a new source, as they are now; undefined for other sources. */
  async #lookAt(source: TriggerSource): Promise<FileSet | undefined> {
    if (source.type !== 'files') return undefined
    if (!isPlacedAt(source.place, this.#here())) return undefined
    const found = await this.#files.lookAt(source)
    if (isRefusal(found)) throw new RefusedError(found)
    return found
  }

  /** A plan on one trigger. The session of the trigger says who may act on it. */
  #change(
    actor: Actor,
    action: string,
    id: string,
    decide: (plan: OccurrencePlan, was: Trigger | null, at: number) => PlanPart<Trigger | Refusal>,
  ): Promise<Trigger> {
    const edges = this.#edges
    const session = triggerSession(id)
    return orThrow(edges, { actor, action, target: `session:${session}` }, function* () {
      const denied = yield* refuseDefinition(edges, actor, session)
      if (denied !== undefined) return { answer: denied, changes: [] }
      const rows = new WorkingRows()
      const was = yield* rows.trigger(id)
      const answer = yield* decide({ edges, rows, performOne }, was, edges.clock.now())
      return { answer, changes: isRefusal(answer) ? [] : rows.changes }
    })
  }

  #placed(definition: TriggerDefinition): TriggerDefinition {
    return { ...definition, request: placedRequest(definition.request, this.#here()) }
  }
}

function* nothing(): PlanPart<void> {}

function* feedPosition(): PlanPart<number> {
  return (yield* know({ ask: 'changes', after: Number.MAX_SAFE_INTEGER, limit: 1 })).position
}

/** A new source begins with what is there: it starts nothing for the past. */
function* firstState(
  source: TriggerSource,
  files: FileSet | undefined,
  was: SourceState | null,
): PlanPart<SourceState> {
  switch (source.type) {
    case 'event':
      return { type: 'event', position: yield* feedPosition() }
    case 'files':
      return { type: 'files', set: files ?? null, changes: was?.type === 'files' ? was.changes : 0 }
    case 'webhook':
      return { type: 'webhook', secretVersion: was?.type === 'webhook' ? was.secretVersion : 1 }
  }
}

function definitionOf({ source, overlap, pauseOnFailure, request }: Trigger): TriggerDefinition {
  return { source, overlap, pauseOnFailure, request }
}

function isSameDefinition(trigger: Trigger, definition: TriggerDefinition): boolean {
  return sameJson(asJson(definitionOf(trigger)), asJson(definition))
}

/** The daemon reads names of files for the trigger: an agent must not look into folders that its rules keep it out of. */
function refuseFilesOf(actor: Actor, source: TriggerSource | undefined): Refusal | undefined {
  if (source?.type !== 'files' || actor === 'host' || actor.startsWith('human:')) return undefined
  return refusal(
    'denied',
    `${actor} may not watch files with a trigger: the daemon would read them with its own rights.`,
    'Ask a person to add the trigger.',
    { subject: actor },
  )
}

function refuseRotation(source: TriggerSource, rotatesSecret: boolean): Refusal | undefined {
  if (!rotatesSecret || source.type === 'webhook') return undefined
  return refusal(
    'invalid_input',
    'Only a webhook has a secret.',
    'Rotate the secret of a trigger that is a webhook.',
    {
      field: 'rotateSecret',
    },
  )
}

function alreadyThere({ id }: Trigger): Refusal {
  return refusal(
    'conflict',
    `There is a trigger ${id} already, and it is defined otherwise.`,
    `Edit it (reeve trigger edit ${id}), remove it, or choose another name.`,
    { trigger: id },
  )
}
