import { expect, test } from 'vitest'
import { TempReeve } from '../temp-reeve.ts'
import { textOf, WAYS } from './connected.ts'

test.each([100, 150, 200, 400])(
  'an answer with maxChars %d says that there is more output, of a running command and of one that has ended',
  async (maxChars) => {
    await using temp = new TempReeve()
    const client = await WAYS.stdio(await temp.embed(), { era: 'modern' })
    const print = 'yes | head -c 20000'
    const ended = await textOf(client, 'process_start', { run: print, waitMs: 30_000, maxChars })
    const run = `${print}; echo done; exec sleep 60`
    await textOf(client, 'process_start', { run, name: 'long', waitMs: 0, maxChars: 100 })
    const until = { text: 'done' }
    const waited = await textOf(client, 'process_wait', { pid: 'long', until, maxChars })
    const polled = await textOf(client, 'process_poll', { pid: 'long', maxChars })
    for (const text of [ended, waited, polled]) {
      expect(text).toMatch(/there is more: process_poll|left out: process_poll/)
      expect(text.length).toBeLessThanOrEqual(maxChars)
    }
    for (const text of [ended, polled]) expect(text).toMatch(/^p_\w{12} /)
  },
)
