import { expect, test } from 'vitest'
import { findPlantedBugs } from '../find-planted-bugs.ts'
import { lawsBroken } from '../laws-broken.ts'
import { simulate } from '../run.ts'
import { treePlants } from './plants.ts'

const SHORT_RUN = 5

test(`${SHORT_RUN} seeds with agents below agents break no law`, { timeout: 600_000 }, async () => {
  for (let seed = 1; seed <= SHORT_RUN; seed++)
    expect(await lawsBroken(seed, { kind: 'trees' }), `seed ${seed}`).toEqual([])
})

test('one seed with agents below agents gives the same trace twice, byte for byte', {
  timeout: 120_000,
}, async () => {
  const [first, second] = [await simulate(7, { kind: 'trees' }), await simulate(7, { kind: 'trees' })]
  expect(second.trace).toEqual(first.trace)
  expect(second.hash).toBe(first.hash)
})

findPlantedBugs(treePlants)
