import { typedEvent } from '../core/process/event.ts'
import type { Intent } from '../core/process/intent.ts'
import { PAGE_BYTES } from '../kernel/page.ts'
import { type ActionParts, type ActionsFor, asked, finderFor, readerFor } from './action.ts'
import { readChanges } from './changes.ts'
import { checkJson } from './parse.ts'
import { revealRequest } from './reveal.ts'

/** Events of processes: own events, named signals and answers, the history of one process, and the change feed. */
export function eventActions(
  parts: ActionParts,
): ActionsFor<'append' | 'send' | 'answer' | 'events' | 'changes'> {
  const { kernel, actor, reveals } = parts
  const { edges } = kernel
  const find = finderFor(parts)
  const read = readerFor(parts)
  return {
    async append({ events }) {
      const intents = events.map(
        ({ pid, type, payload, replayKey }): Intent => ({
          ...asked(parts, pid),
          type: 'append',
          event: type,
          payload: checkJson(payload, 'payload'),
          replayKey: replayKey ?? null,
          fence: null,
        }),
      )
      const performed = await kernel.performAll(intents)
      return {
        events: performed.map(({ type, row, ...one }) => ({
          type: type === 'replayed' ? ('replayed' as const) : ('appended' as const),
          pid: row.record.pid,
          seq: 'event' in one ? one.event.seq : row.record.revision,
        })),
      }
    },
    async send({ pid, name, value, id }) {
      const signalId = id ?? edges.newId()
      const performed = await kernel.perform({
        ...asked(parts, await find(pid)),
        type: 'signal',
        name,
        id: signalId,
        value: checkJson(value ?? null, 'value'),
      })
      return { type: performed.type === 'replayed' ? 'replayed' : 'sent', id: signalId }
    },
    answer: async ({ key, value }) => ({
      type: await kernel.waits.answer(actor, key, checkJson(value ?? null, 'value')),
    }),
    async events({ pid, after, tail, limit, reveal }, options) {
      const record = await read(pid)
      const { pid: found, revision } = record
      await reveals.viewFor(revealRequest(actor, 'events', options), record, reveal)
      const events = await (tail === undefined
        ? edges.store.ask({ ask: 'events', pid: found, after, limit, bytes: PAGE_BYTES })
        : edges.store.ask({ ask: 'tail', pid: found, limit: tail }))
      return { events: events.map(typedEvent), count: revision }
    },
    changes: ({ after, prunedThrough, filter, limit }) =>
      readChanges(kernel, actor, { after, prunedThrough, filter, limit }),
  }
}
