import { expect, test } from 'vitest'
import { TempReeve } from '../temp-reeve.ts'
import { call, textOf, WAYS } from './connected.ts'

interface Inbox {
  readonly notices: readonly { readonly pid: string; readonly kind: string; readonly text: string }[]
  readonly next: number
  readonly more: number
}
interface Started {
  readonly process: { readonly pid: string }
}

test('notices that the agent has already seen do not take up the page of the inbox', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const client = await WAYS.stdio(reeve, { era: 'modern' })
  const start = async (given: object) =>
    (await call<Started>(client, 'process_start', { ...given })).structured.process.pid
  const old = await start({ run: 'exec sleep 60', waitMs: 0 })
  await reeve.kill({ pid: old })
  await call(client, 'inbox')
  for (let i = 0; i < 5; i++) await start({ run: 'true', waitMs: 30_000 })
  const watched = await start({ run: 'echo ALARM; exec sleep 60', watch: [{ text: 'ALARM' }], waitMs: 0 })
  const newest = async () => {
    const { notices } = await reeve.notices({ scope: `session:${await sessionOf()}`, newest: true, limit: 1 })
    return notices.map(({ pid, kind }) => ({ pid, kind }))
  }
  const sessionOf = async () => (await reeve.show({ pid: watched })).owner.session ?? ''
  await expect.poll(newest, { timeout: 30_000 }).toEqual([{ pid: watched, kind: 'watch_match' }])
  const { structured } = await call<Inbox>(client, 'inbox', { limit: 3 })
  expect(structured.notices.map(({ pid }) => pid)).toEqual([old, watched])
  expect(structured.more).toBe(0)
})

test('a full page of the inbox says how many notices follow, and the last page says that it is the last', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const client = await WAYS.stdio(reeve, { era: 'modern' })
  for (const name of ['a', 'b', 'c']) {
    await call(client, 'process_start', { run: 'exec sleep 60', name, waitMs: 0 })
    await reeve.kill({ pid: name })
  }
  const first = await textOf(client, 'inbox', { limit: 2 })
  const after = Number(/1 more: inbox with after: (\d+)/.exec(first)?.[1])
  expect(after).toBeGreaterThan(0)
  const last = await call<Inbox>(client, 'inbox', { after, limit: 2 })
  expect(last.structured).toMatchObject({ notices: [{ kind: 'completion' }], more: 0 })
  expect(last.text).toContain(`That is all. Mark as read with after: ${last.structured.next}`)
})
