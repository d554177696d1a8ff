import { BoundedMap } from '../base/bounded-map.ts'
import type { PolicyFileAnswer } from '../core/capability/policy-file.ts'
import type { Session } from '../core/session/session.ts'

/** Reads policy files: on the host that runs the commands, and before the plan, which reads rows only. */
export interface PolicyFiles {
  /** The policy files of a folder and of all folders above it. A relative folder is one below that of this program. */
  look(folder: string): Promise<FolderPolicies>
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
  /** Since when it is as it is. */
  readonly since: number
}

/** More than sessions of one daemon act at once. */
const MAX_SESSIONS = 10_000

/** The folders of one registration, as the host found them. */
export type Places = ReadonlyMap<string, FolderPolicies>

/** The workspaces that this kernel knows of. */
export class Workspaces {
  readonly files: PolicyFiles
  /** The folders of each session that has acted here. A guess, which saves a plan: each plan reads the session's row. */
  readonly #ofSession = new BoundedMap<string, readonly string[]>(MAX_SESSIONS)

  constructor(files: PolicyFiles) {
    this.files = files
  }

  guess(actor: string): readonly string[] {
    return this.#ofSession.get(actor) ?? []
  }

  learn({ id, workspaces = [] }: Session): void {
    this.#ofSession.set(`session:${id}`, workspaces)
  }

  /** Looks again at the files that could not be used: a person may have corrected them. */
  async lookAgain(): Promise<void> {
    await Promise.all(this.files.broken.map(({ folder }) => this.files.look(folder)))
  }

  async placesOf(folders: readonly string[]): Promise<Places> {
    const found = await Promise.all(
      folders.map(async (folder) => [folder, await this.files.look(folder)] as const),
    )
    return new Map(found)
  }
}
