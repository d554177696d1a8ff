import { loadParts } from '../agent/parts/stored-parts.ts'
import { placedLogs } from '../core/agent/earlier-logs.ts'
import type { AgentState, Part } from '../core/agent/state.ts'
import { objectOf } from '../core/json/json.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Store } from '../store/contract.ts'

const PAGE = 500
const PAGE_BYTES = 8 * 1024 * 1024

/** The tools that the prompts of an agent declare now, from its log; null before its first model call. A segment is short enough to be read. */
export async function declaredTools(
  store: Store,
  pid: Pid,
  { segment, earlier = [] }: AgentState,
): Promise<{ name: string; description: string }[] | null> {
  if (segment.from === 0) return null
  // The segment may have begun in the log of an agent whose session this one continues.
  for (const log of [{ pid, shift: 0 }, ...placedLogs(earlier).toReversed()]) {
    const from = segment.from + log.shift
    for (let before = Number.MAX_SAFE_INTEGER; before > Math.max(from, 1); ) {
      const events = await store.ask({ ask: 'tail', pid: log.pid, before, limit: PAGE, bytes: PAGE_BYTES })
      for (const event of events.toReversed()) {
        if (event.seq < from) return null
        const found = await toolsIn(store, event)
        if (found !== null) return found
      }
      before = events[0]?.seq ?? 0
    }
    if (from > 0) return null
  }
  return null
}

async function toolsIn(
  store: Store,
  { type, payload }: StoredEvent,
): Promise<{ name: string; description: string }[] | null> {
  if (type !== 'segment_begun' && type !== 'system_item') return null
  const { parts = [] } = objectOf(payload)
  const loaded = await loadParts(store.blobs, parts as readonly Part[])
  const declared = loaded.findLast((part) => part.type === 'tools')?.['declarations']
  if (!Array.isArray(declared)) return null
  return declared.map((tool) => {
    const { name, description } = objectOf(tool)
    return { name: String(name), description: String(description) }
  })
}
