import { expect, test } from 'vitest'
import { findPlantedBugs } from '../find-planted-bugs.ts'
import { lawsBroken } from '../laws-broken.ts'
import { simulate } from '../run.ts'
import { memoryPlants } from './memory-plants.ts'

const SHORT_RUN = 5

test(`${SHORT_RUN} seeds with long-term memory break no law`, { timeout: 600_000 }, async () => {
  for (let seed = 1; seed <= SHORT_RUN; seed++)
    expect(await lawsBroken(seed, { kind: 'long_term' }), `seed ${seed}`).toEqual([])
})

test('one seed with long-term memory gives the same trace twice, byte for byte', {
  timeout: 120_000,
}, async () => {
  const [first, second] = [await simulate(7, { kind: 'long_term' }), await simulate(7, { kind: 'long_term' })]
  expect(second.trace).toEqual(first.trace)
  expect(second.hash).toBe(first.hash)
})

findPlantedBugs(memoryPlants)
