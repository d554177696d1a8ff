import { ProcTable } from '../tree/proc-table.ts'
import type { ProgramTree } from './program-tree.ts'

type Exceeded = 'limit:memory' | 'limit:cpu'

interface Watched {
  readonly tree: ProgramTree
  readonly memoryBytes: number | null
  readonly cpuSeconds: number | null
  readonly exceeded: (because: Exceeded) => void
}

/**
 * Polls the programs that have a limit of memory or CPU time, all in one pass. Without such programs no timer runs.
 */
export class UsageLimits {
  readonly #watched = new Set<Watched>()
  #timer: NodeJS.Timeout | null = null

  /** Watches until the returned function is called. */
  watch(
    tree: ProgramTree,
    limits: { readonly memoryBytes: number | null; readonly cpuSeconds: number | null },
    exceeded: (because: Exceeded) => void,
  ): () => void {
    const { memoryBytes, cpuSeconds } = limits
    if (memoryBytes === null && cpuSeconds === null) return () => {}
    const watched = { tree, memoryBytes, cpuSeconds, exceeded }
    this.#watched.add(watched)
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS)
    return () => {
      this.#watched.delete(watched)
      if (this.#watched.size > 0 || this.#timer === null) return
      clearInterval(this.#timer)
      this.#timer = null
    }
  }

  #look(): void {
    // Markers are read when they are needed.
    const table = ProcTable.read(Number.POSITIVE_INFINITY)
    for (const { tree, memoryBytes, cpuSeconds, exceeded } of [...this.#watched]) {
      const isOver = memoryBytes !== null && (tree.wasOutOfMemory() || tree.memoryBytes(table) > memoryBytes)
      if (isOver) exceeded('limit:memory')
      else if (cpuSeconds !== null && (tree.usage(table).cpuMs ?? 0) > cpuSeconds * 1000)
        exceeded('limit:cpu')
    }
  }
}

const LOOK_EVERY_MS = 500
