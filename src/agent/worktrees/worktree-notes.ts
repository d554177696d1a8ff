import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../../base/error-text.ts'
import type { Pid } from '../../core/process/pid.ts'
import { type Worktree, worktreeFrom } from '../../core/worktree/worktree.ts'

/**
 * The worktrees of a data folder. `<pid>.json` is on disk before git is asked to make `<pid>/`, and is removed last: after a crash at any
 * moment each worktree that may exist is still listed.
 */
export class WorktreeNotes {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  folderOf(pid: Pid): string {
    return join(this.#folder, pid)
  }

  async write(worktree: Worktree): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const path = this.#path(worktree.pid)
    const file = await open(`${path}.new`, 'w', 0o600)
    try {
      await file.writeFile(JSON.stringify(worktree))
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(`${path}.new`, path)
    const folder = await open(this.#folder, 'r')
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
  }

  async read(pid: Pid): Promise<Worktree | null> {
    try {
      return worktreeFrom(await readFile(this.#path(pid), 'utf8'))
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null
      throw error
    }
  }

  /** The oldest first. */
  async all(): Promise<readonly Worktree[]> {
    const names = await readdir(this.#folder).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return []
      throw error
    })
    const found: Worktree[] = []
    for (const name of names) {
      if (!name.endsWith('.json')) continue
      const worktree = await this.read(name.slice(0, -'.json'.length))
      if (worktree !== null) found.push(worktree)
    }
    return found.sort((a, b) => a.madeAt - b.madeAt || (a.pid < b.pid ? -1 : 1))
  }

  async remove(pid: Pid): Promise<void> {
    await rm(this.#path(pid), { force: true })
  }

  #path(pid: Pid): string {
    return join(this.#folder, `${pid}.json`)
  }
}
