import type { Rule } from '../../../src/core/capability/rule.ts'
import type { FolderPolicies, PolicyFileFound, PolicyFiles } from '../../../src/kernel/workspaces.ts'
import type { ModelVersion } from './file-model.ts'

/** The folders of these worlds that may have a policy file. Commands run in the first one. */
export const FOLDERS = ['/work', '/project'] as const
export type Folder = (typeof FOLDERS)[number]

/** The folder of commands that name none. */
export const DAEMON_FOLDER = '/daemon'

/** The policy files on the disk, with all their earlier contents. */
export class PolicyFolders {
  readonly #versions = new Map<string, ModelVersion>()
  readonly #present = new Map<Folder, PolicyFileFound>()
  /** The contents that could be read, by folder. */
  readonly #readable = new Map<Folder, string[]>()
  /** How often a file was written, put back or removed. */
  changes = 0

  /** Writes a file; the rules of a broken one cannot be read. */
  write(folder: Folder, rules: readonly Rule[], isBroken: boolean, at: number): string {
    const hash = `v${this.#versions.size + 1}`
    this.#versions.set(hash, { hash, rules })
    this.changes += 1
    if (!isBroken) this.#readable.set(folder, [...this.contentsOf(folder), hash])
    const problems = isBroken ? [{ line: 1, message: 'It is cut off.', remedy: 'Write the rest.' }] : []
    this.#present.set(folder, {
      folder,
      path: `${folder}/.reeve/policy.json`,
      hash,
      since: at,
      rules: isBroken ? [] : rules,
      problems,
    })
    return hash
  }

  /** Puts an earlier content back. */
  putBack(folder: Folder, hash: string): void {
    const file = this.#present.get(folder)
    if (file === undefined) return
    this.changes += 1
    this.#present.set(folder, { ...file, hash, rules: this.versionOf(hash).rules, problems: [] })
  }

  remove(folder: Folder): void {
    this.changes += 1
    this.#present.delete(folder)
  }

  contentsOf(folder: Folder): readonly string[] {
    return this.#readable.get(folder) ?? []
  }

  fileOf(folder: string): PolicyFileFound | undefined {
    return FOLDERS.flatMap((one) => (one === folder ? (this.#present.get(one) ?? []) : []))[0]
  }

  versionOf(hash: string): ModelVersion {
    return this.#versions.get(hash) ?? { hash, rules: [] }
  }

  /** As a host reads them: each look takes a while, and finds what is there then. */
  readBy(turn: () => Promise<void>): PolicyFiles {
    const found = () => [...this.#present.values()]
    return {
      look: async (folder): Promise<FolderPolicies> => {
        await turn()
        const real = folder === '.' ? DAEMON_FOLDER : folder
        return { folder: real, files: found().filter((file) => isBelow(real, file.folder)) }
      },
      get broken() {
        return found().filter(({ problems }) => problems.length > 0)
      },
    }
  }
}

function isBelow(folder: string, above: string): boolean {
  return folder === above || folder.startsWith(`${above}/`)
}
