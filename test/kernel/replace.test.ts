import { embed, type Reeve } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { tempStore } from '../temp-folder.ts'

const UNKNOWN = 'e'.repeat(64)
const server = { kind: 'tool', spec: { tool: 'serve' }, recovery: 'bound' } as const
const replacing = (name: string) => ({ ...server, name, ifRunning: 'replace' }) as const

async function withServers(...names: string[]): Promise<{ reeve: Reeve; pids: string[] }> {
  const reeve = await embed({
    store: tempStore(),
    tools: {
      serve: ({ abortSignal: signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true })),
    },
  })
  onTestFinished(() => reeve.close())
  const { processes } = await reeve.spawnMany({ processes: names.map((name) => ({ ...server, name })) })
  return { reeve, pids: processes.map(({ record }) => record.pid) }
}

test('a refused replacement ends nothing', async () => {
  const { reeve, pids } = await withServers('web', 'api')
  const records = () => Promise.all(pids.map((pid) => reeve.show({ pid })))
  const before = await records()
  const bad = { ...server, envRef: UNKNOWN }

  await expect(reeve.spawn({ ...replacing('web'), envRef: UNKNOWN })).rejects.toMatchObject({
    code: 'environment_unknown',
  })
  await expect(reeve.spawnMany({ processes: [replacing('web'), bad] })).rejects.toMatchObject({
    code: 'environment_unknown',
  })
  await expect(reeve.spawnMany({ processes: [replacing('web'), replacing('web')] })).rejects.toMatchObject({
    code: 'invalid_input',
  })
  await expect(
    reeve.spawn({ ...replacing('web'), parent: pids[0] ?? '', lifetime: 'parent' }),
  ).rejects.toMatchObject({ code: 'stopping' })

  expect(await records()).toEqual(before)
})

test('several requests end all that they replace, and are registered together', async () => {
  const { reeve, pids } = await withServers('web', 'api')
  const { processes } = await reeve.spawnMany({ processes: [replacing('web'), replacing('api')] })
  expect(processes.map(({ type }) => type)).toEqual(['registered', 'registered'])
  for (const pid of pids) expect((await reeve.show({ pid })).outcome?.status).toBe('cancelled')
  for (const { record } of processes) expect((await reeve.show({ pid: record.pid })).outcome).toBeNull()
})

test('a replaced child frees its slot below its parent', async () => {
  const { reeve } = await withServers('other')
  const { record: parent } = await reeve.spawn({ ...server, limits: { liveChildren: 1 } })
  const child = { ...replacing('web'), parent: parent.pid, lifetime: 'parent' } as const
  const first = await reeve.spawn(child)
  const second = await reeve.spawn(child)
  expect(second.type).toBe('registered')
  expect((await reeve.show({ pid: first.record.pid })).outcome?.status).toBe('cancelled')
})
