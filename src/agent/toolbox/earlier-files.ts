import { isOfBranch } from '../../core/agent/segment-calls.ts'
import { NEW_AGENT } from '../../core/agent/state.ts'
import { type Json, objectOf } from '../../core/json/json.ts'
import type { Filter } from '../../core/process/filter.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import { processToolOf } from '../../core/tool/built-in-name.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import type { FileRecords, SeenFile } from '../tools/files/file-tracker.ts'

const CHANGING = ['edit_file', 'write_file']
const READING = ['read_file', ...CHANGING, 'memory_read', 'memory_write', 'memory_edit']
const PAGE = 100
/** The newest calls that are searched. An older read does not count: the agent reads the file again. */
const MAX_CALLS = 2_000

/** What agents have read and written, as the stored results of their calls say: a restart changes nothing. */
export class EarlierFiles implements FileRecords {
  readonly #kernel: () => Kernel

  constructor(kernel: () => Kernel) {
    this.#kernel = kernel
  }

  async seenBy(agent: Pid): Promise<readonly SeenFile[]> {
    const seen = new Map<string, SeenFile>()
    const row = await this.#kernel().edges.store.ask({ ask: 'process', pid: agent })
    const state = row?.record.agent ?? NEW_AGENT
    for await (const { outcome, owner } of this.#calls(READING, { parent: [agent] })) {
      if (!isOfBranch(state, agent, owner)) continue
      const { reads, changes } = objectOf(outcome?.result)
      const at = outcome?.endedAt ?? 0
      for (const [path, hash] of [...hashesIn(changes, 'after'), ...hashesIn(reads, 'hash')])
        if (at > (seen.get(path)?.at ?? -1)) seen.set(path, { path, hash, at })
    }
    return [...seen.values()]
  }

  async writerOf(path: string, hash: string): Promise<Pid | undefined> {
    for await (const { outcome, parent } of this.#calls(CHANGING, {})) {
      const { changes } = objectOf(outcome?.result)
      if (hashesIn(changes, 'after').some(([at, after]) => at === path && after === hash))
        return parent ?? undefined
    }
    return undefined
  }

  /** Calls of these tools that completed, the newest first. */
  async *#calls(tools: readonly string[], filter: Filter): AsyncGenerator<ProcessRecord> {
    const { store } = this.#kernel().edges
    const names = new Set<Json | undefined>(tools.map(processToolOf))
    const asked = { ...filter, kind: ['tool'], label: tools, status: ['completed'] } as const
    let after: number | null = null
    for (let seen = 0; seen < MAX_CALLS; seen += PAGE) {
      const page: { items: readonly { record: ProcessRecord }[]; next: number | null } = await store.ask({
        ask: 'processes',
        filter: asked,
        newestFirst: true,
        after,
        limit: PAGE,
      })
      // A program may serve a tool under the same name: its results say nothing about files.
      for (const { record } of page.items) if (names.has(record.spec['tool'])) yield record
      if (page.next === null) return
      after = page.next
    }
  }
}

/** Paths and hashes of a list of reads or changes. */
function hashesIn(list: Json | undefined, key: 'hash' | 'after'): readonly (readonly [string, string])[] {
  if (!Array.isArray(list)) return []
  return list.flatMap((one) => {
    const { path, [key]: hash } = objectOf(one)
    return typeof path === 'string' && typeof hash === 'string' ? [[path, hash] as const] : []
  })
}
