import { exportItem } from '../core/agent/export/export-item.ts'
import { notAnAgent } from '../core/agent/refusals.ts'
import { phaseOf } from '../core/agent/state.ts'
import { RefusedError } from '../core/errors.ts'
import type { OutputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, readerFor, throwIfRefused } from './action.ts'
import { branchAfter, itemsAfter, itemsBefore } from './agent-log-pages.ts'

/** The session logs of agents. */
export function agentLogActions(parts: ActionParts): ActionsFor<'agentLog' | 'exportAgent'> {
  const { kernel, masker } = parts
  const read = readerFor(parts)
  return {
    async agentLog({ pid, last, before, after, blobs }): Promise<OutputOf<'agentLog'>> {
      // Before the record is read: a follower from here misses nothing that is not in the answer.
      const { position } = kernel.feed
      const record = await read(pid)
      const { agent, revision } = record
      if (agent === null) throwIfRefused(notAnAgent(record))
      const asked = { pid: record.pid, limit: last, blobs }
      const shown = { phase: phaseOf(record), record, position }
      if (after !== undefined) {
        const page = await itemsAfter(kernel.edges.store, { ...asked, after, through: revision })
        return { ...page, before: null, ...shown }
      }
      const head = Math.min(agent?.head ?? 0, (before ?? Number.MAX_SAFE_INTEGER) - 1)
      const from = before ?? revision + 1
      const page = await itemsBefore(kernel.edges.store, { ...asked, head, before: from })
      return { ...page, after: revision, more: false, ...shown }
    },
    async exportAgent({ pid, format, after, limit }) {
      const record = await read(pid)
      const { agent } = record
      if (agent === null) throw new RefusedError(notAnAgent(record))
      const asked = { pid: record.pid, limit, after, through: record.revision, agent }
      const page = await branchAfter(kernel.edges.store, asked)
      const { items: stored, ...place } = page
      // Before they become text: JSON in a text escapes line breaks, and so hides secrets of several lines.
      const items = (await masker.answer(stored, 'all')) as typeof stored
      return { ...place, text: items.map((item) => exportItem(format, item)).join('') }
    },
  }
}
