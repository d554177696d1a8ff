import { expect, test } from 'vitest'
import { lawsBroken } from './laws-broken.ts'
import { simulate } from './run.ts'

const SHORT_RUN = 40

test(`${SHORT_RUN} seeds of faults, deaths and random requests break no law`, {
  timeout: 600_000,
}, async () => {
  for (let seed = 1; seed <= SHORT_RUN; seed++) expect(await lawsBroken(seed), `seed ${seed}`).toEqual([])
})

test('one seed gives the same trace twice, byte for byte', { timeout: 120_000 }, async () => {
  const [first, second] = [await simulate(7), await simulate(7)]
  expect(second.trace).toEqual(first.trace)
  expect(second.hash).toBe(first.hash)
  expect((await simulate(8)).hash).not.toBe(first.hash)
})
