import { expect, test } from 'vitest'
import { findPlantedBugs } from '../find-planted-bugs.ts'
import { lawsBroken } from '../laws-broken.ts'
import { definitionPlants } from './plants.ts'

const SHORT_RUN = 12

test(`${SHORT_RUN} seeds with schedules and triggers break no law`, { timeout: 600_000 }, async () => {
  for (let seed = 1; seed <= SHORT_RUN; seed++)
    expect(await lawsBroken(seed, { kind: 'definitions' }), `seed ${seed}`).toEqual([])
})

findPlantedBugs(definitionPlants)
