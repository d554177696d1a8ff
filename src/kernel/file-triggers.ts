import { asJson, type Json, sizeOf } from '../core/json/json.ts'
import { isPlacedAt, type Placement } from '../core/placement/placement.ts'
import { isRefusal, type Refusal, refusal } from '../core/refusal.ts'
import { changedFiles } from '../core/trigger/changed-files.ts'
import type { FileSet, FilesSource, Trigger } from '../core/trigger/trigger.ts'
import { deliver, pauseTrigger } from './deliveries.ts'
import type { Edges } from './edges.ts'
import { performOne } from './perform.ts'
import { WorkingRows } from './working-rows.ts'

/** A set that never rests starts the trigger after so many debounces. */
const MAX_DEBOUNCES = 10
const MAX_PATHS_BYTES = 64 * 1024

/** A watched source. */
interface Followed {
  readonly trigger: Trigger
  readonly source: FilesSource
  readonly stop: () => void
}

/** A change that was seen and is not delivered yet. */
interface Pending {
  readonly hash: string
  /** How many different sets were seen since the change began. */
  readonly sets: number
  readonly cancel: () => void
  /** The debounce is over. */
  isDue: boolean
}

/**
 * Compares the files of triggers with the sets in their rows. A watch of the folder is a nudge to look; the sweep looks anyway. A
 * change that no kernel saw is found by the next look, because the row has the set of the last delivery.
 */
export class FileTriggers {
  readonly #edges: Edges
  readonly #here: () => readonly Placement[]
  readonly #registerOpen: (trigger: Trigger) => Promise<unknown>
  readonly #followed = new Map<string, Followed>()
  readonly #pending = new Map<string, Pending>()
  readonly #busy = new Map<string, Promise<void>>()
  readonly #wanted = new Set<string>()
  #isClosed = false

  constructor(
    edges: Edges,
    here: () => readonly Placement[],
    registerOpen: (trigger: Trigger) => Promise<unknown>,
  ) {
    this.#edges = edges
    this.#here = here
    this.#registerOpen = registerOpen
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const id of [...this.#followed.keys()]) this.#unfollow(id)
    await Promise.all(this.#busy.values())
  }

  async lookAt(source: FilesSource): Promise<FileSet | Refusal> {
    return (await this.#edges.fileSets?.look(source)) ?? noFiles()
  }

  /** From now on it watches the folders of these triggers that are here, and no others. */
  follow(triggers: readonly Trigger[]): void {
    if (this.#isClosed) return
    const wanted = new Map<string, { trigger: Trigger; source: FilesSource }>()
    for (const trigger of triggers) {
      const { source } = trigger
      if (source.type === 'files' && isPlacedAt(source.place, this.#here()))
        wanted.set(`${trigger.id} ${trigger.key} ${trigger.revision}`, { trigger, source })
    }
    for (const id of [...this.#followed.keys()]) if (!wanted.has(id)) this.#unfollow(id)
    for (const [id, one] of wanted) {
      if (this.#followed.has(id)) continue
      const stop = this.#edges.fileSets?.watch(one.source.folder, () => this.#nudged(id))
      this.#followed.set(id, { ...one, stop: stop ?? (() => undefined) })
    }
  }

  /** Looks at all of them, and resolves when changes that are due are delivered. */
  async look(): Promise<void> {
    await Promise.all([...this.#followed.keys()].map((id) => this.#lookAt(id)))
  }

  #unfollow(id: string): void {
    this.#followed.get(id)?.stop()
    this.#followed.delete(id)
    this.#pending.get(id)?.cancel()
    this.#pending.delete(id)
  }

  #nudged(id: string): void {
    this.#lookAt(id).catch((error: unknown) => {
      if (!this.#isClosed) this.#edges.onTrouble(error, 'looking at the files of a trigger')
    })
  }

  /** One look at a time for each. A nudge during a look causes another one. */
  #lookAt(id: string): Promise<void> {
    this.#wanted.add(id)
    const busy = this.#busy.get(id)
    if (busy !== undefined) return busy
    const look = this.#lookWhileWanted(id).finally(() => this.#busy.delete(id))
    this.#busy.set(id, look)
    return look
  }

  async #lookWhileWanted(id: string): Promise<void> {
    while (this.#wanted.delete(id)) {
      const followed = this.#followed.get(id)
      if (followed === undefined || this.#isClosed) return
      await this.#compare(id, followed)
    }
  }

  async #compare(id: string, { trigger: { id: name, key }, source }: Followed): Promise<void> {
    const trigger = await this.#edges.store.ask({ ask: 'trigger', id: name })
    if (trigger?.key !== key || trigger.state.type !== 'files' || trigger.paused !== null) return
    const found = await this.lookAt(source)
    if (isRefusal(found)) return this.#pause(trigger, found)
    if (trigger.state.set?.hash === found.hash) {
      this.#pending.get(id)?.cancel()
      this.#pending.delete(id)
      return
    }
    // After a pause the first look takes what is there.
    if (trigger.state.set === null) return this.#deliver(trigger, found)
    const pending = this.#pending.get(id)
    const isSame = pending?.hash === found.hash
    if (isSame && !pending.isDue) return
    const sets = (pending?.sets ?? 0) + 1
    pending?.cancel()
    this.#pending.delete(id)
    if (isSame || source.debounceMs === 0 || sets > MAX_DEBOUNCES) return this.#deliver(trigger, found)
    const cancel = this.#edges.clock.after(source.debounceMs, () => {
      next.isDue = true
      this.#nudged(id)
    })
    const next: Pending = { hash: found.hash, sets, cancel, isDue: false }
    this.#pending.set(id, next)
  }

  /** Several kernels may see one change: the first commit moves the set, and the others find it moved. */
  async #deliver({ id, key, state: seen }: Trigger, found: FileSet): Promise<void> {
    const edges = this.#edges
    const answer = await edges.store.write<Trigger | null>(function* () {
      const rows = new WorkingRows()
      const was = yield* rows.trigger(id)
      if (was?.key !== key || was.state.type !== 'files' || was.paused !== null || seen.type !== 'files')
        return { answer: null, changes: [] }
      const { state } = was
      if (state.changes !== seen.changes || state.set?.hash !== seen.set?.hash || was.source.type !== 'files')
        return { answer: null, changes: [] }
      const changes = state.changes + (state.set === null ? 0 : 1)
      const moved: Trigger = { ...was, state: { type: 'files', set: found, changes } }
      if (state.set === null) return { answer: moved, changes: [{ type: 'trigger', was, trigger: moved }] }
      rows.add([{ type: 'trigger', was, trigger: moved }])
      const happening = {
        id: `files:${changes}:${found.hash}`,
        payload: payloadOf(was.source.folder, state.set, found),
        chain: [],
      }
      const delivered = yield* deliver({ edges, rows, performOne }, id, happening, true, edges.clock.now())
      // The set stays as it was, so that a later look finds the change.
      if (delivered.type === 'full') return { answer: null, changes: [] }
      return { answer: (yield* rows.trigger(id)) ?? moved, changes: rows.changes }
    })
    if (answer?.isOpen === true) await this.#registerOpen(answer)
  }

  async #pause({ id, key, revision }: Trigger, { message }: Refusal): Promise<void> {
    const edges = this.#edges
    await edges.store.write(function* () {
      const rows = new WorkingRows()
      const was = yield* rows.trigger(id)
      if (was?.key === key && was.revision === revision && was.paused === null)
        pauseTrigger({ edges, rows, performOne }, was, message, edges.clock.now())
      return { answer: undefined, changes: rows.changes }
    })
  }
}

/** The paths that changed, as many as fit. */
function payloadOf(folder: string, before: FileSet, after: FileSet) {
  const changed = changedFiles(before, after)
  let bytes = 0
  let leftOut = 0
  const fitting = (paths: readonly string[]): Json => {
    const kept = paths.filter((path) => {
      bytes += sizeOf(path) + 1
      return bytes <= MAX_PATHS_BYTES
    })
    leftOut += paths.length - kept.length
    return kept
  }
  const { added, modified, removed } = changed
  const files = { added: fitting(added), modified: fitting(modified), removed: fitting(removed) }
  return asJson({ type: 'files', folder, ...files, ...(leftOut === 0 ? {} : { leftOut }) })
}

function noFiles(): Refusal {
  return refusal('not_available', 'This program watches no files.', 'Use a daemon, or embed with Node.')
}
