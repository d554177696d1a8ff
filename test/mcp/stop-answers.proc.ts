import { expect, test } from 'vitest'
import { TempReeve } from '../temp-reeve.ts'
import { call, textOf, WAYS } from './connected.ts'

interface Inbox {
  readonly notices: readonly { readonly pid: string; readonly text: string }[]
}
interface Started {
  readonly process: { readonly pid: string }
}

test('an interrupt names the processes that it asked to stop, and the next step', async () => {
  await using temp = new TempReeve()
  const client = await WAYS.stdio(await temp.embed(), { era: 'modern' })
  const pids: string[] = []
  for (const name of ['web', 'api']) {
    const given = { run: 'exec sleep 60', name, waitMs: 0 }
    pids.push((await call<Started>(client, 'process_start', given)).structured.process.pid)
  }
  const one = await textOf(client, 'interrupt', { pid: 'web' })
  expect(one).toMatch(new RegExp(`^Asked to stop: ${pids[0]} \\(web\\)\\.\nNext: process_wait`))
  await textOf(client, 'process_wait', { pid: pids[0] })
  const all = await textOf(client, 'interrupt', { all: true })
  expect(all).toMatch(new RegExp(`^Asked to stop: ${pids[1]} \\(api\\)\\.`))
  await textOf(client, 'process_wait', { pid: pids[1] })
  const none = await textOf(client, 'interrupt', { all: true })
  expect(none).toMatch(/^No process of your session is running\./)
})

for (const [way, connect] of Object.entries(WAYS)) {
  test(`over ${way} the inbox leaves out ends that process_kill and process_restart have answered with`, async () => {
    await using temp = new TempReeve()
    const reeve = await temp.embed()
    const client = await connect(reeve, { era: 'modern' })
    const start = async (name: string) =>
      (await call<Started>(client, 'process_start', { run: 'exec sleep 60', name, waitMs: 0 })).structured
        .process.pid
    await start('killed')
    await textOf(client, 'process_kill', { pid: 'killed' })
    await start('restarted')
    const again = await call<Started>(client, 'process_restart', { pid: 'restarted', waitMs: 0 })
    const other = await start('other')
    await reeve.kill({ pid: other })
    for (let look = 0; look < 2; look++) {
      const { notices } = (await call<Inbox>(client, 'inbox')).structured
      expect(notices.map(({ pid }) => pid)).toEqual([other])
    }
    await reeve.kill({ pid: again.structured.process.pid })
  })
}

test('the inbox says "by you" for processes that the agent interrupted', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const client = await WAYS.stdio(reeve, { era: 'modern' })
  const given = { run: 'exec sleep 60', name: 'web', waitMs: 0 }
  const { pid } = (await call<Started>(client, 'process_start', given)).structured.process
  await textOf(client, 'interrupt', { pid: 'web' })
  await reeve.wait({ pid })
  const told = await textOf(client, 'inbox')
  expect(told).toContain('asked by you')
  expect(told).not.toContain('session:')
})
