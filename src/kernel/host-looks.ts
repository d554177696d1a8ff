import type { ShownChange } from '../core/approval/shown-change.ts'
import { type ResolvedAction, UNANALYSED } from '../core/capability/action.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { isRefusal, type Refusal } from '../core/refusal.ts'
import type { Edges } from './edges.ts'
import { loadPolicyFile } from './policy-files.ts'
import type { Registering } from './register.ts'
import { type HostFacts, type Resolution, textOf, type Unresolved } from './register-one.ts'
import type { MissingPlace } from './rule-on-registration.ts'
import type { FolderPolicies } from './workspaces.ts'

/** Finds out what a command would do on the host that runs it; null if this kernel cannot. */
export type ResolveAction = (record: ProcessRecord) => Promise<ResolvedAction | null>

/** What the host finds out for the registrations of one call, before the plan and again when the plan needs more. */
export class HostLooks {
  readonly #edges: Edges
  readonly #resolve: ResolveAction
  #previews: Map<Pid, ShownChange | null> | undefined
  // Most registrations need nothing of the host: each map is made with its first entry.
  #resolved: Map<Pid, Resolution> | undefined
  #places: Map<string, FolderPolicies> | undefined
  #looksLeft: number

  constructor(edges: Edges, resolve: ResolveAction, looks: number) {
    this.#edges = edges
    this.#resolve = resolve
    this.#looksLeft = looks
  }

  get facts(): HostFacts {
    const places = this.#edges.workspaces === undefined ? undefined : (this.#places ?? NOTHING)
    const [resolved, previews] = [this.#resolved ?? NOTHING, this.#previews ?? NOTHING]
    return { resolved, previews, places, looksLeft: this.#looksLeft }
  }

  /** Looks at the folders that the plan will need, as far as the requests tell; undefined if they tell none. */
  guess(registering: readonly Registering[]): Promise<void> | undefined {
    const { workspaces } = this.#edges
    if (workspaces === undefined) return undefined
    const folders = registering.flatMap(({ actor, request }) => {
      const isBound = actor.startsWith('session:') || actor.startsWith('process:')
      return isBound ? workspaces.guess(actor, request) : []
    })
    return folders.length === 0 ? undefined : this.#lookAt([...new Set(folders)])
  }

  /** Finds out what a plan was missing. A refusal ends the registration. */
  async look(
    { unresolved, missing }: Unresolved,
    preview?: () => Promise<ShownChange | null>,
  ): Promise<Refusal | undefined> {
    if (missing.type === 'preview') {
      this.#previews ??= new Map()
      this.#previews.set(unresolved.pid, (await preview?.()) ?? null)
      return undefined
    }
    if (missing.type !== 'action') return this.lookAround(missing)
    // Folders and files that change all the time use up the looks: the command is resolved all the same, and once.
    const isRepeated = --this.#looksLeft <= 0 && this.#resolved?.has(unresolved.pid) === true
    const action = isRepeated ? null : await this.#resolve(unresolved)
    this.#resolved ??= new Map()
    this.#resolved.set(unresolved.pid, { text: textOf(unresolved), action: action ?? UNANALYSED })
    return undefined
  }

  /** Finds out about folders and policy files. */
  async lookAround(missing: MissingPlace): Promise<Refusal | undefined> {
    this.#looksLeft -= 1
    if (missing.type === 'folders') {
      for (const session of missing.sessions) this.#edges.workspaces?.learn(session)
      await this.#lookAt(missing.folders)
      return undefined
    }
    for (const file of missing.files) {
      const loaded = await loadPolicyFile(this.#edges, file)
      if (isRefusal(loaded)) return loaded
    }
    return undefined
  }

  async #lookAt(folders: readonly string[]): Promise<void> {
    const found = (await this.#edges.workspaces?.placesOf(folders)) ?? NOTHING
    this.#places ??= new Map()
    for (const [folder, place] of found) this.#places.set(folder, place)
  }
}

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>()
