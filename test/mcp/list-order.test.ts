import { expect, test } from 'vitest'
import { embedTemp } from '../embed-temp.ts'
import { call, overHttp } from './connected.ts'

interface Listed {
  readonly processes: readonly { readonly pid: string }[]
  readonly next: string | null
}

test('process_list shows the newest processes first, and older ones on later pages', async () => {
  const reeve = await embedTemp()
  await reeve.openSession({ session: 'mine' })
  const pids: string[] = []
  for (let i = 0; i < 5; i++) {
    const spec = { description: `number ${i}` }
    const { record } = await reeve.spawn({ kind: 'external', spec, owner: { session: 'mine' } })
    pids.push(record.pid)
  }
  await reeve.end({ pid: pids[3] ?? '', status: 'completed', replayKey: 'once' })
  const caller = { role: 'agent', actor: 'session:mine', tokenId: 't' } as const
  const client = await overHttp(reeve, { era: 'modern', caller })
  const page = async (given: object) => {
    const { structured, text } = await call<Listed>(client, 'process_list', { limit: 3, ...given })
    return { pids: structured.processes.map(({ pid }) => pid), next: structured.next, text }
  }
  const first = await page({ status: 'any' })
  expect(first.pids).toEqual([pids[4], pids[3], pids[2]])
  expect(first.text).toContain(`Older ones: after: "${first.next}"`)
  const second = await page({ status: 'any', after: first.next })
  expect(second.pids).toEqual([pids[1], pids[0]])
  expect(second.next).toBeNull()
  expect((await page({})).pids).toEqual([pids[4], pids[2], pids[1]])
})
