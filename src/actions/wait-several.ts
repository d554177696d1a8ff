import type { ProcessRow } from '../core/process/row.ts'
import type { Waited } from '../kernel/wait.ts'
import type { OutputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, readerFor } from './action.ts'
import { consumeEnd, waitOptions } from './wait.ts'
import { whileReadable } from './while-readable.ts'

/** Waits for the end of any, or of all, of several processes. */
export function waitSeveralActions(parts: ActionParts): ActionsFor<'waitAny' | 'waitAll'> {
  const { kernel, actor, effects } = parts
  const read = readerFor(parts)
  const findAll = async (texts: readonly string[]) =>
    (await Promise.all(texts.map(read))).map(({ pid }) => pid)
  return {
    async waitAny({ pids, timeoutMs }, options) {
      const found = await findAll(pids)
      const first = await whileReadable(kernel, actor, found, options, async (lasts) => {
        const decided = new AbortController()
        const signal = AbortSignal.any([lasts.signal, decided.signal])
        try {
          return await Promise.race(
            found.map((pid) => kernel.waits.forEnd(pid, waitOptions(timeoutMs, { signal }))),
          )
        } finally {
          // The waits that lost the race would go on.
          decided.abort()
        }
      })
      if (first.type !== 'done') return first
      const { record } = first.value
      await consumeEnd(effects, record.pid, options)
      return { type: 'ended', record }
    },
    async waitAll({ pids, timeoutMs }, options) {
      const found = await findAll(pids)
      const all = await whileReadable(kernel, actor, found, options, (lasts) =>
        Promise.all(found.map((pid) => kernel.waits.forEnd(pid, waitOptions(timeoutMs, lasts)))),
      )
      const done = all.filter(
        (one): one is Extract<Waited<ProcessRow>, { type: 'done' }> => one.type === 'done',
      )
      for (const { value } of done) await consumeEnd(effects, value.record.pid, options)
      const missing = all.find((one) => one.type !== 'done')
      return {
        type: missing === undefined ? 'ended' : missing.type,
        records: done.map(({ value }) => value.record),
      } as OutputOf<'waitAll'>
    },
  }
}
