import { expect, onTestFinished, test } from 'vitest'
import { SCRIPT_LIMITS } from '../../src/core/script/limits.ts'
import { MAX_SNAPSHOT_BYTES } from '../../src/core/script/snapshot.ts'
import { loadEngine, ScriptVm } from '../../src/script/script-vm.ts'

const NOW = 1_700_000_000_000

async function opened(): Promise<ScriptVm> {
  const vm = new ScriptVm(await loadEngine(), SCRIPT_LIMITS)
  onTestFinished(() => vm.close())
  return vm
}

const BOTH = `export default async ({ x }: { x: number }, reeve: any) => {
  console.log('before', Date.now())
  const [one, two] = await Promise.all([reeve.one({ x }), reeve.two()])
  console.log('after', Date.now())
  return { one, two, three: await reeve.three({ one }) }
}`

test('a script that waits in Promise.all goes on in another thread, with answers in another order', async () => {
  const first = await opened()
  expect(await first.begin(BOTH, '{"x":3}', NOW)).toEqual({
    type: 'waiting',
    calls: [
      { n: 1, tool: 'one', input: '{"x":3}' },
      { n: 2, tool: 'two', input: '{}' },
    ],
  })
  const state = await first.snapshot()
  await first.close()
  if (state === null) throw new Error('The state is too large')
  expect(state.length).toBeLessThan(MAX_SNAPSHOT_BYTES / 2)
  const second = await opened()
  await second.restore(state, NOW)
  expect(await second.answer({ n: 2, isError: false, json: '"b"' }, NOW + 1)).toEqual({
    type: 'waiting',
    calls: [],
  })
  expect(await second.answer({ n: 1, isError: false, json: '"a"' }, NOW + 2)).toEqual({
    type: 'waiting',
    calls: [{ n: 3, tool: 'three', input: '{"one":"a"}' }],
  })
  expect(await second.answer({ n: 3, isError: false, json: '"c"' }, NOW + 3)).toEqual({
    type: 'returned',
    value: '{"one":"a","two":"b","three":"c"}',
    printed: `before ${NOW}\nafter ${NOW + 2}\n`,
  })
})

test('a failed call is an error that a script can catch', async () => {
  const vm = await opened()
  const source =
    'export default async (_: unknown, reeve: any) => { try { await reeve.one() } catch (error) { return (error as Error).message } }'
  await vm.begin(source, '{}', NOW)
  expect(await vm.answer({ n: 1, isError: true, json: '"denied"' }, NOW)).toMatchObject({ value: '"denied"' })
})

test('a state that is too large is not stored, and the script goes on', async () => {
  const vm = await opened()
  const source = `export default async (_: unknown, reeve: any) => {
    const noise = Array.from({ length: 400_000 }, () => Math.random())
    await reeve.one()
    return noise.length
  }`
  await vm.begin(source, '{}', NOW)
  expect(await vm.snapshot()).toBeNull()
  expect(await vm.answer({ n: 1, isError: false, json: 'null' }, NOW)).toMatchObject({ value: '400000' })
})

test('two runs of a script are the same', async () => {
  const source = 'export default () => [Date.now(), Math.random(), new Date(0).toString()]'
  const runs = []
  for (let count = 0; count < 2; count += 1) runs.push(await (await opened()).begin(source, '{}', NOW))
  expect(runs[0]).toEqual(runs[1])
})

test('a thread of a script ends when it is closed, also while it computes', async () => {
  const vm = await opened()
  const running = vm.begin('for (;;) { try { for (;;) {} } catch {} }\nexport default 1', '{}', NOW)
  const failed = expect(running).rejects.toThrow('It was stopped.')
  await vm.close()
  await failed
})
