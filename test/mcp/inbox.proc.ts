import { expect, test } from 'vitest'
import { Household } from '../command/household.ts'
import { call, WAYS } from './connected.ts'

interface Inbox {
  readonly notices: readonly { readonly kind: string; readonly text: string }[]
  readonly next: number
}

test('an agent is told of lines it watches for and of what is ready, until it says that it has read of them', async () => {
  await using household = new Household()
  const client = await WAYS.stdio(await household.open(), { era: 'modern' })
  const started = await call<{ process: { pid: string } }>(client, 'process_start', {
    ...{ run: 'echo ERROR: no space; echo listening; exec sleep 60', waitMs: 0 },
    ...{ watch: [{ text: 'ERROR' }], ready: { log: 'listening' } },
  })
  const { pid } = started.structured.process
  const waited = await call(client, 'process_wait', { pid, ready: true })
  expect(waited.structured).toMatchObject({ answer: 'ready' })
  await expect
    .poll(async () => (await call<Inbox>(client, 'inbox')).structured.notices.map(({ kind }) => kind).sort())
    .toEqual(['ready', 'watch_match'])
  const again = await call<Inbox>(client, 'inbox')
  expect(again.text).toContain('ERROR: no space')
  const { next } = again.structured
  expect((await call<Inbox>(client, 'inbox', { after: next })).structured.notices).toEqual([])
  expect((await call<Inbox>(client, 'inbox')).structured.notices).toEqual([])
  await call(client, 'process_kill', { pid })
  const ended = await call<Inbox>(client, 'inbox')
  expect(ended.structured.notices.map(({ kind }) => kind)).toEqual(['completion'])
})
