import { BoundedMap } from '../base/bounded-map.ts'
import type { PolicyFileAnswer } from '../core/capability/policy-file.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import type { RegistrationRequest } from '../core/process/registration-request.ts'
import type { Session } from '../core/session/session.ts'

/** Reads policy files: on the host that runs the commands, and before the plan, which reads rows only. */
export interface PolicyFiles {
  /**
   * The policy files of a folder and of all folders above it. A relative folder is one below that of this program. A file that was
   * absent at most `maxAgeMs` ago is not looked for again.
   */
  look(folder: string, maxAgeMs?: number): Promise<FolderPolicies>
  /** The files that could not be used when they were last read. */
  readonly broken: readonly PolicyFileFound[]
}

export interface FolderPolicies {
  /** After symbolic links. */
  readonly folder: string
  readonly files: readonly PolicyFileFound[]
}

/** A policy file as it is now. */
export interface PolicyFileFound extends PolicyFileAnswer {
  /** The workspace. */
  readonly folder: string
  readonly path: string
  readonly hash: string
  /** When it was seen in this state first. */
  readonly since: number
}

/** More than sessions of one daemon act at once, and more processes than start others at once. */
const MAX_KNOWN = 10_000

/** A burst of commands without any policy file looks for one once. Too short for people to notice. */
const MAX_ABSENCE_MS = 500

/** The folders of one registration, as the host found them. */
export type Places = ReadonlyMap<string, FolderPolicies>

interface KnownProcess {
  readonly session: string | null
  readonly cwd: string | null
}

/** The workspaces that this kernel knows of. */
export class Workspaces {
  readonly files: PolicyFiles
  /** Sessions and processes that have acted here. Guesses, which save a plan: each plan reads the rows. */
  readonly #sessions = new BoundedMap<string, Session>(MAX_KNOWN)
  readonly #processes = new BoundedMap<Pid, KnownProcess>(MAX_KNOWN)
  /** Many processes of a session have the same facts: they share one object. */
  #learned: KnownProcess = { session: null, cwd: null }

  constructor(files: PolicyFiles) {
    this.files = files
  }

  /** The folders that the plan of a registration will ask for, as far as they are known. */
  guess(
    actor: Actor,
    { kind, cwd, parent, defaultCwd, owner }: Omit<RegistrationRequest, 'spec'>,
  ): readonly string[] {
    if (kind !== 'command' && this.#sessions.size === 0) return []
    const above = parent === undefined ? undefined : this.#processes.get(parent)
    const session = actor.startsWith('session:')
      ? actor.slice('session:'.length)
      : this.#processes.get(actor.slice('process:'.length))?.session
    const own = [owner?.session, session].flatMap((id) => this.#foldersOf(id ?? null))
    // The cwd of a parent that is not known is not known either.
    const isKnown = cwd !== undefined || parent === undefined || above !== undefined
    const folder = kind === 'command' && isKnown ? [cwd ?? above?.cwd ?? defaultCwd ?? '.'] : []
    return [...new Set([...own, ...folder])]
  }

  #foldersOf(id: string | null): readonly string[] {
    const session = id === null ? undefined : this.#sessions.get(id)
    if (session === undefined) return []
    return [session, ...(session.sessionsAbove ?? []).map((above) => this.#sessions.get(above))].flatMap(
      (one) => one?.workspaces ?? [],
    )
  }

  learn(session: Session): void {
    const { id, workspaces, sessionsAbove } = session
    if (workspaces !== undefined || sessionsAbove !== undefined) this.#sessions.set(id, session)
  }

  learnProcess({ pid, owner, cwd }: Pick<ProcessRecord, 'pid' | 'owner' | 'cwd'>): void {
    const { session = null } = owner
    // Most processes of a host: what they start is bound by no folder, and needs no guess.
    if (session === null && cwd === null) return
    if (this.#learned.session !== session || this.#learned.cwd !== cwd) this.#learned = { session, cwd }
    this.#processes.set(pid, this.#learned)
  }

  /** Looks again at the files that could not be used: a person may have corrected them. */
  async lookAgain(): Promise<void> {
    await Promise.all(this.files.broken.map(({ folder }) => this.files.look(folder)))
  }

  async placesOf(folders: readonly string[]): Promise<Places> {
    const found = await Promise.all(
      folders.map(async (folder) => [folder, await this.files.look(folder, MAX_ABSENCE_MS)] as const),
    )
    return new Map(found)
  }
}
