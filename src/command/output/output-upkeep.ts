import { agentOfCall, isOutputShownBy } from '../../core/agent/segment-calls.ts'
import type { Pid } from '../../core/process/pid.ts'
import { hasEnded, type ProcessRecord } from '../../core/process/record.ts'
import type { ProcessRow } from '../../core/process/row.ts'
import type { DataFolderPaths } from '../../keeper/protocol/data-folder-paths.ts'
import { makeReserve } from '../../keeper/protocol/reserve.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { dropOutput, pidsWithOutput, pruneOutput } from './housekeeping.ts'

/** How often the disk reserve is made again after it was given up. */
const RESERVE_LOOK_MS = 5_000
const PIDS_AT_ONCE = 500

interface OutputUpkeepOptions {
  readonly home: DataFolderPaths
  readonly totalBytes: number
  /** Removes the other data of processes whose output was deleted. */
  readonly forget: (pids: readonly Pid[]) => Promise<void>
  readonly onTrouble: (error: unknown, doing: string) => void
}

/** Keeps the output logs of all commands below their cap, and a reserve of disk space for the day the disk is full. */
export class OutputUpkeep {
  /** The size of all output logs when they were last measured. */
  outputBytes: number | null = null
  readonly #options: OutputUpkeepOptions
  #pruning: NodeJS.Timeout | undefined
  #reserving: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()

  constructor(options: OutputUpkeepOptions) {
    this.#options = options
  }

  /** Prunes the logs now and every `everyMs`, and restores the disk reserve, until `close`. */
  start(kernel: Kernel, everyMs: number): void {
    this.#keepReserve()
    this.#reserving = setInterval(() => this.#keepReserve(), RESERVE_LOOK_MS)
    this.#reserving.unref()
    const look = (act: () => Promise<void>) => {
      this.#looking = act().catch((error: unknown) => this.#options.onTrouble(error, 'pruning output logs'))
    }
    look(async () => {
      await this.#dropUnknown(kernel)
      await this.prune(kernel)
    })
    this.#pruning = setInterval(() => look(() => this.prune(kernel)), everyMs)
    this.#pruning.unref()
  }

  /** Removes the output of processes that are gone from the store. */
  async drop(pids: readonly Pid[]): Promise<void> {
    for (const pid of pids) await dropOutput(this.#options.home.output, pid)
    await this.#options.forget(pids)
  }

  /** Keeps all logs together below their cap: those that ended longest ago go first. */
  async prune(kernel: Kernel): Promise<void> {
    const { home, forget } = this.#options
    const { dropped, totalBytes } = await pruneOutput(home.output, {
      totalBytes: this.#options.totalBytes,
      finished: (pids) => endedLongestAgo(kernel, pids),
    })
    this.outputBytes = totalBytes
    await forget(dropped)
  }

  async close(): Promise<void> {
    clearInterval(this.#pruning)
    clearInterval(this.#reserving)
    await this.#looking
  }

  /** Removes logs whose process is pruned: a daemon was killed between that and the removal of its log. */
  async #dropUnknown(kernel: Kernel): Promise<void> {
    const all = await pidsWithOutput(this.#options.home.output)
    for (let next = 0; next < all.length; next += PIDS_AT_ONCE) {
      const pids = all.slice(next, next + PIDS_AT_ONCE)
      const found = await kernel.edges.store.ask({ ask: 'prunable', pids })
      const known = new Set(found.map(({ pid }) => pid))
      await this.drop(pids.filter((pid) => !known.has(pid)))
    }
  }

  #keepReserve(): void {
    try {
      makeReserve(this.#options.home.reserve)
    } catch (error) {
      this.#options.onTrouble(error, 'reserving disk space')
    }
  }
}

/** Ended commands whose output may go, those that ended longest ago first. What the live segment of an agent shows goes last. */
async function endedLongestAgo(kernel: Kernel, pids: readonly Pid[]): Promise<Pid[]> {
  const ended: { pid: Pid; at: number; isShown: boolean }[] = []
  const { store } = kernel.edges
  const agents = new Map<Pid, Promise<ProcessRow | null>>()
  const agentOf = async ({ owner: { toolCall } }: ProcessRecord): Promise<ProcessRecord | null> => {
    if (toolCall === undefined) return null
    const agent = agentOfCall(toolCall)
    const asked = agents.get(agent) ?? store.ask({ ask: 'process', pid: agent })
    agents.set(agent, asked)
    return (await asked)?.record ?? null
  }
  for (const pid of pids) {
    const row = await store.ask({ ask: 'process', pid })
    // Without a record no caller can ask for the log any more.
    if (row === null) ended.push({ pid, at: 0, isShown: false })
    else if (hasEnded(row.record)) {
      const agent = await agentOf(row.record)
      const isShown = agent !== null && isOutputShownBy(agent, row.record)
      ended.push({ pid, at: row.record.outcome?.endedAt ?? 0, isShown })
    }
  }
  ended.sort((a, b) => Number(a.isShown) - Number(b.isShown) || a.at - b.at)
  return ended.map(({ pid }) => pid)
}
