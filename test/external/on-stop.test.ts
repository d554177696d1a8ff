import type { ExternalStop } from 'reeve'
import { expect, test } from 'vitest'
import { embedTemp } from '../embed-temp.ts'
import { tempStore } from '../temp-folder.ts'
import { Crashed, deliveredTo } from './reeve.ts'

const OUTSIDE = { kind: 'external', spec: { description: 'a job elsewhere' } } as const

test('a stop of an external process is passed on to the program, and signalled says that it reached the process', async () => {
  const stops: ExternalStop[] = []
  const reeve = await embedTemp({ onStop: (stop) => stops.push(stop) > 0 })
  const { pid } = (await reeve.spawn(OUTSIDE)).record
  const { type: answer, record } = await reeve.signal({ pid, signal: 'cancel', reason: 'not needed' })
  expect([answer, typeof record.stopRequest?.deliveredAt]).toEqual(['signalled', 'number'])
  expect(stops).toMatchObject([{ record: { pid }, how: 'cancel', reason: 'not needed', source: 'host' }])
  expect((await reeve.signal({ pid, signal: 'cancel' })).type).toBe('unchanged')
  expect(await reeve.interrupt({ scope: { pid } })).toMatchObject({ signalled: [pid] })
  expect(stops).toHaveLength(1)
  // A stronger stop is another one.
  expect((await reeve.signal({ pid, signal: 'kill' })).type).toBe('signalled')
  expect(stops.map(({ how }) => how)).toEqual(['cancel', 'kill'])
})

test('a stop that the program could not pass on is recorded, and not signalled', async () => {
  const reeve = await embedTemp({ onStop: () => false })
  const { pid } = (await reeve.spawn(OUTSIDE)).record
  const { type: answer, record } = await reeve.signal({ pid, signal: 'cancel' })
  expect([answer, record.status, record.stopRequest?.deliveredAt]).toEqual([
    'recorded',
    'stopping',
    undefined,
  ])
  expect(await reeve.interrupt({ scope: { pid } })).toMatchObject({ signalled: [], recorded: [pid] })
})

test('without a callback, stops are recorded, and not signalled', async () => {
  const reeve = await embedTemp()
  const { pid } = (await reeve.spawn(OUTSIDE)).record
  expect((await reeve.signal({ pid, signal: 'interrupt' })).type).toBe('recorded')
  expect(await reeve.interrupt({ scope: { pid } })).toMatchObject({ signalled: [], recorded: [pid] })
  expect((await reeve.kill({ pid })).type).toBe('asked')
})

test('a callback that throws is reported, and delivers nothing', async () => {
  const troubles: string[] = []
  const reeve = await embedTemp({
    onStop: () => Promise.reject(new Error('no connection')),
    onTrouble: (error, doing) => void troubles.push(`${doing}: ${String(error)}`),
  })
  const { pid } = (await reeve.spawn(OUTSIDE)).record
  await expect(reeve.signal({ pid, signal: 'cancel' })).resolves.toMatchObject({ type: 'recorded' })
  await expect.poll(() => troubles, { timeout: 45_000 }).toContain(`stopping ${pid}: Error: no connection`)
  expect((await reeve.show({ pid })).stopRequest?.deliveredAt).toBeUndefined()
})

test('a callback that never returns delays neither an answer nor a close', async () => {
  const hows: string[] = []
  const reeve = await embedTemp({
    onStop: ({ how }) => {
      hows.push(how)
      return new Promise<boolean>(() => {})
    },
  })
  const { pid } = (await reeve.spawn(OUTSIDE)).record
  expect((await reeve.signal({ pid, signal: 'cancel' })).type).toBe('recorded')
  expect((await reeve.signal({ pid, signal: 'kill' })).type).toBe('recorded')
  expect(hows).toEqual(['cancel', 'kill'])
  await reeve.close()
})

test('a stop that a crash kept from the program is passed on after the restart', async () => {
  const store = tempStore()
  const first = await embedTemp({ store })
  const { pid } = (await first.spawn({ ...OUTSIDE, lifetime: 'detached' })).record
  await first.close()
  await new Crashed(store).stop(pid, 'cancel')
  const stops: ExternalStop[] = []
  const second = await embedTemp({ store, onStop: (stop) => stops.push(stop) > 0 })
  await deliveredTo(second, pid)
  expect(stops).toMatchObject([{ record: { pid }, how: 'cancel' }])
  await second.close()
  const third = await embedTemp({ store, onStop: (stop) => stops.push(stop) > 0 })
  expect((await third.signal({ pid, signal: 'cancel' })).type).toBe('unchanged')
  expect(stops).toHaveLength(1)
})

test('stops of processes that are not external are not passed on', async () => {
  const stops: ExternalStop[] = []
  const reeve = await embedTemp({
    onStop: (stop) => stops.push(stop) > 0,
    tools: {
      idle: ({ abortSignal: signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve(1))),
    },
  })
  const { pid } = (await reeve.spawn({ kind: 'tool', spec: { tool: 'idle' } })).record
  await reeve.signal({ pid, signal: 'cancel' })
  await reeve.wait({ pid, timeoutMs: 60_000 })
  const { record } = await reeve.spawn(OUTSIDE)
  await reeve.signal({ pid: record.pid, signal: 'cancel' })
  expect(stops.map((stop) => stop.record.pid)).toEqual([record.pid])
})
