import { objectOf } from '../../../src/core/json/json.ts'
import type { StoredEvent } from '../../../src/core/process/event.ts'
import type { Pid } from '../../../src/core/process/pid.ts'
import type { ProcessRecord } from '../../../src/core/process/record.ts'
import type { Delivered, Delivery } from '../../../src/core/trigger/delivery.ts'
import type { EventSource, Trigger } from '../../../src/core/trigger/trigger.ts'
import type { Change } from '../../../src/store/contract.ts'
import { type Check, type CommittedPlan, type Ledger, same } from '../ledger.ts'
import { payloadOf } from '../payload.ts'
import type { Stage } from '../stage.ts'
import { LAWS } from './laws.ts'
import type { SimulatedFiles } from './simulated-files.ts'
import { TriggerModel } from './trigger-model.ts'

const MAX_CHAIN = 8

/** Where the source of a trigger began: what was before starts nothing. */
interface Source {
  from: number
  /** The hash of the last set of files; null after a pause. */
  set: string | null
  changes: number
}

/** Tells the model of each trigger what each commit did, and compares the deliveries with what happened. */
export class TriggerLaws implements Check {
  readonly #stage: Stage
  readonly #ledger: Ledger
  readonly #files: SimulatedFiles
  /** Those that are gone, too, by their keys. */
  readonly #models = new Map<string, TriggerModel>()
  readonly #live = new Map<string, TriggerModel>()
  readonly #sources = new Map<TriggerModel, Source>()
  readonly #stopped = new Set<Pid>()
  /** The position after the last commit. */
  #committed = 0

  constructor(stage: Stage, ledger: Ledger, files: SimulatedFiles) {
    this.#stage = stage
    this.#ledger = ledger
    this.#files = files
  }

  plan({ changes }: CommittedPlan): void {
    for (const change of changes) {
      if (change.type === 'trigger') this.#row(change.was, change.trigger)
      if (change.type === 'trigger_gone') this.#live.delete(change.id)
      if (change.type === 'delivery') this.#delivery(change)
      if (change.type === 'process') this.#process(change)
    }
    for (const model of this.#live.values()) model.closed((pid) => this.#stopped.has(pid))
  }

  committed(): void {
    this.#committed = this.#ledger.position
  }

  /** A sender got this answer about a request to a webhook. */
  acknowledged(trigger: string, delivery: string, answer: Exclude<Delivered, { type: 'full' }>): void {
    const id = `webhook:${delivery}`
    const models = [...this.#models.values()].filter((model) => model.id === trigger)
    if (!models.some((model) => model.fateOf(id) !== undefined))
      this.#stage.violated(LAWS.accepted, `${trigger}: ${id} was ${answer.type}, and is not stored`)
  }

  atRest(): void {
    const isLive = (pid: Pid) => this.#ledger.processes.get(pid)?.record.outcome === null
    for (const model of this.#live.values()) {
      model.atRest(isLive)
      const { source } = model.row
      const { set } = this.#sourceOf(model)
      if (model.isPaused) continue
      if (source.type === 'event') this.#allRead(model, source)
      if (source.type === 'files' && set !== this.#files.setOf(source.folder).hash)
        this.#stage.violated(
          LAWS.sources,
          `${model.id}: the files of ${source.folder} are not those that it saw last`,
        )
    }
  }

  #row(was: Trigger | null, row: Trigger): void {
    const known = this.#live.get(row.id)
    const isNew = was === null || known === undefined
    const model = isNew ? new TriggerModel(row, (law, what) => this.#stage.violated(law, what)) : known
    this.#live.set(row.id, model)
    this.#models.set(row.key, model)
    const isOther = was !== null && !same(was.source, row.source)
    const isResumed = was !== null && was.paused !== null && row.paused === null
    const source = this.#sourceOf(model)
    if ((isNew || isOther || isResumed) && row.state.type === 'event') {
      source.from = row.state.position
      // Other plans of the commit may have written events before.
      if (source.from < this.#committed || source.from > this.#ledger.position)
        this.#stage.violated(
          LAWS.sources,
          `${row.id} begins after ${source.from}, and ${this.#committed} is committed`,
        )
    }
    if (row.state.type === 'files') {
      if (isResumed) source.set = null
      else if (isNew || isOther || source.set === null) source.set = row.state.set?.hash ?? null
      if (isOther && was?.source.type !== 'files') source.changes = row.state.changes
    }
    if (!isNew) model.changed(row)
  }

  #delivery({ was, delivery }: Extract<Change, { type: 'delivery' }>): void {
    if (delivery.verdict === 'rejected') return
    const model = this.#live.get(delivery.trigger)
    if (model === undefined) return
    if (was !== null) {
      model.settled(delivery)
      return
    }
    const broke = (what: string) => this.#stage.violated(LAWS.sources, `${model.id}: ${delivery.id} ${what}`)
    const [type, ...about] = delivery.id.split(':')
    if (type === 'event') this.#compareEvent(model, Number(about[0]), broke)
    if (type === 'files') this.#compareFiles(model, delivery, broke)
    model.arrived(delivery)
  }

  #compareEvent(model: TriggerModel, position: number, broke: (what: string) => void): void {
    const event = this.#ledger.log.find((one) => one.position === position)
    const { from } = this.#sourceOf(model)
    const { source } = model.row
    if (event === undefined) {
      broke('is no event')
      return
    }
    if (position <= from) broke(`was before ${from}`)
    if (source.type !== 'event' || !this.#matches(model, source, event)) broke('does not match')
  }

  #compareFiles(model: TriggerModel, { id, payload }: Delivery, broke: (what: string) => void): void {
    const source = this.#sourceOf(model)
    const [, number, hash = ''] = id.split(':')
    const before = source.set === null ? undefined : this.#files.earlier(source.set)
    const after = this.#files.earlier(hash)
    source.set = hash
    source.changes += 1
    if (before === undefined || after === undefined) {
      broke('is no set that the files were')
      return
    }
    if (Number(number) !== source.changes) broke(`follows change ${source.changes - 1}`)
    const stamps = (path: string) => [before.files[path], after.files[path]]
    const all = [...new Set([...Object.keys(before.files), ...Object.keys(after.files)])].sort()
    const expected = {
      added: all.filter((path) => stamps(path)[0] === undefined),
      modified: all.filter((path) => !stamps(path).includes(undefined) && new Set(stamps(path)).size === 2),
      removed: all.filter((path) => stamps(path)[1] === undefined),
    }
    const { added, modified, removed } = objectOf(payload)
    if (payload !== null && !same({ added, modified, removed }, expected))
      broke(`should be ${JSON.stringify(expected)}`)
  }

  #process({ events, was, row }: Extract<Change, { type: 'process' }>): void {
    for (const event of events) {
      const { pid } = event
      const cause = payloadOf(event, 'registered')?.causedBy
      if (cause?.['trigger'] !== undefined && cause['runBy'] === undefined)
        this.#live.get(String(cause['trigger']))?.registered(pid, String(cause['delivery']))
    }
    const { pid, stopRequest, outcome } = row.record
    if (stopRequest !== null || outcome !== null) this.#stopped.add(pid)
    if (outcome === null || was?.record.outcome != null) return
    for (const model of this.#live.values()) if (model.isOccurrence(pid)) model.ended(pid, outcome.status)
  }

  /** Every matching event since the source began was delivered. */
  #allRead(model: TriggerModel, source: EventSource): void {
    const { from } = this.#sourceOf(model)
    for (const event of this.#ledger.log) {
      if (event.position <= from || !this.#ledger.processes.has(event.pid)) continue
      if (this.#matches(model, source, event) && model.fateOf(`event:${event.position}`) === undefined)
        this.#stage.violated(
          LAWS.sources,
          `${model.id}: event ${event.position} (${event.type}) was not delivered`,
        )
    }
  }

  /** An event of the wanted types and kinds, of a process that the trigger did not lead to. */
  #matches({ id }: TriggerModel, { on, kind }: EventSource, { type, pid }: StoredEvent): boolean {
    const record = this.#ledger.entry(pid)?.record
    if (record === undefined || !on.includes(type) || kind?.includes(record.kind) === false) return false
    const led = this.#ledBy(record)
    return !led.includes(id) && led.length < MAX_CHAIN
  }

  /** The triggers that led to a process: those that its root names, and those whose sessions it is in. */
  #ledBy({ owner, sessionsAbove = [], root }: ProcessRecord): string[] {
    const inSessions = [owner.session ?? '', ...sessionsAbove].flatMap((session) => {
      const [type, id = ''] = session.split(':')
      return type === 'trigger' ? [id] : []
    })
    if (inSessions.length === 0) return []
    const { trigger, chain } = this.#ledger.entry(root)?.record.causedBy ?? {}
    const named = [...(Array.isArray(chain) ? chain : []), ...(trigger === undefined ? [] : [trigger])]
    return [...new Set([...named.map(String), ...inSessions])]
  }

  #sourceOf(model: TriggerModel): Source {
    const known = this.#sources.get(model)
    if (known !== undefined) return known
    const source = { from: 0, set: null, changes: 0 }
    this.#sources.set(model, source)
    return source
  }
}
