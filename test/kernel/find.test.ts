import { embed, type InputOf } from 'reeve'
import { expect, test } from 'vitest'
import { tempStore } from '../temp-folder.ts'

const OUTSIDE = { kind: 'external', spec: { description: 'x' } } as const

test('a process is found by its pid, by an unambiguous beginning of it, and by its newest name', async () => {
  const reeve = await embed({ store: tempStore() })
  for (const pid of ['p_aaaa22222222', 'p_aaaa33333333', 'p_bbbb22222222'])
    await reeve.spawn({ ...OUTSIDE, pid, name: 'web' })
  expect((await reeve.show({ pid: 'p_aaaa22222222' })).pid).toBe('p_aaaa22222222')
  expect((await reeve.show({ pid: 'p_bbbb' })).pid).toBe('p_bbbb22222222')
  expect((await reeve.show({ pid: 'p_aaaa3' })).pid).toBe('p_aaaa33333333')
  expect((await reeve.show({ pid: 'web' })).pid).toBe('p_bbbb22222222')
  await expect(reeve.show({ pid: 'p_aaaa' })).rejects.toMatchObject({
    code: 'ambiguous_pid',
    details: { candidates: ['p_aaaa22222222', 'p_aaaa33333333'] },
  })
  await expect(reeve.show({ pid: 'p_aaa' })).rejects.toMatchObject({ code: 'unknown_pid' })
  await reeve.close()
})

test('a name means the newest live process; if none is live, the newest', async () => {
  const reeve = await embed({ store: tempStore() })
  const meant = async () => (await reeve.show({ pid: 'web' })).pid
  const end = (pid: string) => reeve.end({ pid, status: 'completed', replayKey: 'e' })
  const [old, middle, young] = ['p_aaaa22222222', 'p_bbbb22222222', 'p_cccc22222222'] as const
  expect(await reeve.spawn({ ...OUTSIDE, pid: old, name: 'web' })).not.toHaveProperty('warning')
  for (const pid of [middle, young])
    expect((await reeve.spawn({ ...OUTSIDE, pid, name: 'web' })).warning?.code).toBe('name_in_use')
  await end(young)
  expect(await meant()).toBe(middle)
  await end(middle)
  expect(await meant()).toBe(old)
  await end(old)
  expect(await meant()).toBe(young)
  expect(await reeve.spawn({ ...OUTSIDE, name: 'web' })).not.toHaveProperty('warning')
  await reeve.close()
})

test('a name means a process of the caller’s session before one that was granted to it', async () => {
  const reeve = await embed({ store: tempStore() })
  for (const session of ['s1', 's2']) await reeve.openSession({ session })
  const own = await reeve.as('session:s1').spawn({ ...OUTSIDE, name: 'web' })
  await reeve.end({ pid: own.record.pid, status: 'completed', replayKey: 'e' })
  const granted = { ...OUTSIDE, name: 'web', grants: [{ session: 's1' }] }
  await reeve.as('session:s2').spawn(granted)
  expect((await reeve.as('session:s1').show({ pid: 'web' })).pid).toBe(own.record.pid)
  await reeve.close()
})

test('a spawn with the name of a live process is answered with a warning and its pid', async () => {
  const reeve = await embed({ store: tempStore() })
  const { record } = await reeve.spawn({ ...OUTSIDE, name: 'web' })
  const second = { ...OUTSIDE, name: 'web', idempotencyKey: 'second' }
  expect((await reeve.spawn(second)).warning).toEqual({ code: 'name_in_use', pid: record.pid })
  expect(await reeve.spawn(second)).not.toHaveProperty('warning')
  await reeve.close()
})

test('each page continues where the last one ended, even if processes start and end in between', async () => {
  const reeve = await embed({ store: tempStore() })
  const { processes } = await reeve.spawnMany({
    processes: Array.from({ length: 25 }, (_, index) => ({ ...OUTSIDE, label: `n${index}` })),
  })
  const seen: string[] = []
  let after: string | null = null
  do {
    const page: Awaited<ReturnType<typeof reeve.list>> = await reeve.list({
      limit: 10,
      ...(after === null ? {} : { after }),
    })
    seen.push(...page.processes.map(({ record }) => record.identity.label))
    if (after === null) {
      await reeve.spawn({ ...OUTSIDE, label: 'late' })
      await reeve.abandon({ pid: processes[3]?.record.pid ?? '', reason: 'gone' })
    }
    after = page.next
  } while (after !== null)
  expect(seen).toEqual([...Array.from({ length: 25 }, (_, index) => `n${index}`), 'late'])
  await reeve.close()
})

test('a single value in a filter means a list of one', async () => {
  const reeve = await embed({ store: tempStore() })
  await reeve.spawn({ ...OUTSIDE, name: 'one' })
  await reeve.spawn({ kind: 'agent', spec: { agent: 'coder' }, name: 'two' })
  const names = async (filter: NonNullable<InputOf<'list'>['filter']>) =>
    (await reeve.list({ filter })).processes.map(({ record }) => record.name)
  expect(await names({ kind: 'agent' })).toEqual(['two'])
  expect(await names({ kind: ['agent', 'external'], status: 'queued' })).toEqual(['one', 'two'])
  expect(await names({ name: 'one', status: 'any' })).toEqual(['one'])
  await reeve.close()
})

test('events are read from a seq or from the end, and are counted', async () => {
  const reeve = await embed({ store: tempStore() })
  const { record } = await reeve.spawn(OUTSIDE)
  for (const cwd of ['/1', '/2', '/3']) await reeve.changeCwd({ pid: record.pid, cwd })
  const seqs = async (input: object) => {
    const { events, count } = await reeve.events({ pid: record.pid, ...input })
    return [events.map(({ seq }) => seq), count]
  }
  expect(await seqs({})).toEqual([[1, 2, 3, 4], 4])
  expect(await seqs({ after: 2 })).toEqual([[3, 4], 4])
  expect(await seqs({ tail: 1 })).toEqual([[4], 4])
  expect(await seqs({ after: 1, limit: 2 })).toEqual([[2, 3], 4])
  await reeve.close()
})

test('a pruned process has another error than a process that never existed', async () => {
  const reeve = await embed({ store: tempStore() })
  const { record } = await reeve.spawn(OUTSIDE)
  await reeve.end({ pid: record.pid, status: 'completed', replayKey: 'e' })
  expect(await reeve.prune({ keep: 0 })).toEqual({ pruned: [record.pid], kept: [] })
  await expect(reeve.show({ pid: record.pid })).rejects.toMatchObject({ code: 'pruned_pid' })
  await expect(reeve.events({ pid: record.pid })).rejects.toMatchObject({ code: 'pruned_pid' })
  await expect(reeve.spawn({ ...OUTSIDE, pid: record.pid })).rejects.toMatchObject({ code: 'pruned_pid' })
  await reeve.close()
})

test('a reader from the beginning skips pruned events, and a reader that fell behind gets an error', async () => {
  const reeve = await embed({ store: tempStore() })
  const outside = { kind: 'external', spec: { description: 'x' } } as const
  const spawned = await reeve.spawnMany({ processes: Array.from({ length: 6 }, () => outside) })
  const pids = spawned.processes.map(({ record }) => record.pid)
  await reeve.end({ pid: pids[5] ?? '', status: 'completed', replayKey: 'e' })
  await reeve.prune({ keep: 0 })
  const seen: string[] = []
  let from = { after: 0, prunedThrough: 0 }
  for (;;) {
    const page = await reeve.changes({ ...from, limit: 1 })
    if (page.events.length === 0) break
    seen.push(...page.events.map(({ pid }) => pid))
    from = { after: page.position, prunedThrough: page.prunedThrough }
  }
  expect(seen).toEqual(pids.slice(0, 5))
  await expect(reeve.changes({ after: 1 })).rejects.toMatchObject({ code: 'behind_pruned' })
  await reeve.close()
})
