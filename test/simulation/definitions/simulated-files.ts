import { createHash } from 'node:crypto'
import type { Refusal } from '../../../src/core/refusal.ts'
import type { FileSet } from '../../../src/core/trigger/trigger.ts'
import type { FileSets } from '../../../src/kernel/file-sets.ts'
import type { Doer } from '../schedule.ts'
import type { Stage } from '../stage.ts'

export const FOLDERS = ['/inbox', '/drop'] as const
const NAMES = ['a', 'b', 'c'] as const

/** The files of all machines, and every set that they ever were. */
export class SimulatedFiles {
  readonly #stage: Stage
  readonly #folders = new Map<string, Map<string, string>>()
  readonly #known = new Map<string, FileSet>()
  readonly #watchers = new Set<{ readonly folder: string; readonly tell: () => void }>()
  #stamps = 0

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** A file is written or removed. */
  change(folder: string): void {
    const { random } = this.#stage
    const files = this.#filesOf(folder)
    const name = random.pick(NAMES)
    if (files.has(name) && random.chance(0.4)) files.delete(name)
    else files.set(name, `${++this.#stamps}`)
    this.#stage.say('world', `changes ${folder}/${name}`)
    for (const watcher of this.#watchers) if (watcher.folder === folder) watcher.tell()
  }

  setOf(folder: string): FileSet {
    const files = Object.fromEntries([...this.#filesOf(folder)].sort(([a], [b]) => a.localeCompare(b)))
    const hash = createHash('sha256')
      .update(`${folder} ${JSON.stringify(files)}`)
      .digest('hex')
      .slice(0, 16)
    const set = { hash, files }
    this.#known.set(hash, set)
    return set
  }

  /** The set that had this hash, if there was one. */
  earlier(hash: string): FileSet | undefined {
    return this.#known.get(hash)
  }

  seenBy(kernel: Doer & { readonly alive: boolean; turn(): Promise<void> }): FileSets {
    return {
      look: async ({ folder }): Promise<FileSet | Refusal> => {
        if (this.#stage.random.chance(this.#stage.settings.askDelayChance)) await kernel.turn()
        return this.setOf(folder)
      },
      watch: (folder, nudge) => {
        const watcher = { folder, tell: () => this.#tell(kernel, nudge) }
        this.#watchers.add(watcher)
        return () => this.#watchers.delete(watcher)
      },
    }
  }

  #tell(kernel: Doer & { readonly alive: boolean }, nudge: () => void): void {
    const { random, settings, schedule } = this.#stage
    if (kernel.alive && !random.chance(settings.nudgeLossChance))
      schedule.soon(kernel, 'sees files change', nudge)
  }

  #filesOf(folder: string): Map<string, string> {
    const known = this.#folders.get(folder)
    if (known !== undefined) return known
    const files = new Map<string, string>()
    this.#folders.set(folder, files)
    return files
  }
}
