import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentWorktrees } from '../actions/agent-facts.ts'
import type { Worktrees } from '../agent/worktrees/worktrees.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ListedWorktree, NewWorktree, Worktree } from '../core/worktree/worktree.ts'
import type { Kernel } from '../kernel/kernel.ts'

export interface DataFolderWorktreesParts {
  /** The data folder. */
  readonly folder: string
  readonly kernel: () => Kernel
  readonly onTrouble: (error: unknown, doing: string) => void
}

/** The worktrees below a data folder. Their code is loaded when there is one. */
export class DataFolderWorktrees implements AgentWorktrees {
  readonly #parts: DataFolderWorktreesParts
  readonly #folder: string
  #loaded: Promise<Worktrees> | undefined
  #isStarted = false

  constructor(parts: DataFolderWorktreesParts) {
    this.#parts = parts
    this.#folder = join(parts.folder, 'worktrees')
  }

  /** The kernel runs: worktrees of agents that have ended since are cleaned up. */
  async start(): Promise<void> {
    this.#isStarted = true
    if (existsSync(this.#folder)) await this.#load()
  }

  async close(): Promise<void> {
    await (await this.#loaded)?.close()
  }

  async make(asked: NewWorktree) {
    return (await this.#load()).make(asked)
  }

  async settled(pid: Pid): Promise<void> {
    await (await this.#load()).settled(pid)
  }

  async handOver(from: Pid, to: Pid): Promise<boolean> {
    return existsSync(this.#folder) && (await this.#load()).handOver(from, to)
  }

  async list(): Promise<readonly ListedWorktree[]> {
    return existsSync(this.#folder) ? (await this.#load()).list() : []
  }

  async find(text: string): Promise<Worktree> {
    return (await this.#load()).find(text)
  }

  async changes(worktree: string): Promise<readonly string[]> {
    const worktrees = await this.#load()
    return worktrees.changes(await worktrees.find(worktree))
  }

  async merge(worktree: Worktree) {
    return (await this.#load()).merge(worktree)
  }

  async remove(worktree: Worktree, discard: boolean): Promise<void> {
    await (await this.#load()).remove(worktree, discard)
  }

  #load(): Promise<Worktrees> {
    this.#loaded ??= import('../agent/worktrees/worktrees.ts').then((code) => {
      const { kernel, onTrouble } = this.#parts
      const worktrees = new code.Worktrees(this.#folder, kernel, onTrouble)
      if (this.#isStarted) worktrees.start()
      return worktrees
    })
    return this.#loaded
  }
}
