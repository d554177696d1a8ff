import { describe, expect, test } from 'vitest'
import { lawsBroken } from './laws-broken.ts'
import type { Plant } from './plant.ts'
import { simulate } from './run.ts'

/** A planted bug must be found within this many seeds after the one that is tried first. */
const MAX_SEEDS = 400

/** Declares a test for each of the plants. */
export function findPlantedBugs(plants: readonly Plant[]): void {
  describe('a planted bug is found, and the same seed is clean without it', () => {
    test.each(plants.map((plant) => [plant.name, plant] as const))(
      '%s',
      { timeout: 600_000 },
      async (_name, plant) => {
        const found = await seedThatFinds(plant)
        expect(await withoutBug(found, plant), `seed ${found}`).toEqual([])
      },
    )
  })
}

/** Several bugs are found at one seed. */
const known = new Map<string, ReturnType<typeof lawsBroken>>()

function withoutBug(seed: number, { kind = 'plain', often = [] }: Plant): ReturnType<typeof lawsBroken> {
  const name = `${seed} ${kind} ${often}`
  const broken = known.get(name) ?? lawsBroken(seed, { kind, often })
  known.set(name, broken)
  return broken
}

/**
 * Tries the seed that found the bug when it was planted, and the seeds after it. Every change of the kernel changes what the seeds do:
 * a seed may find nothing any more, or break another law first. Then a later seed finds the bug, and the law decides, not the seed.
 */
async function seedThatFinds(plant: Plant): Promise<number> {
  const { since = 1, often = [] } = plant
  const others: string[] = []
  for (let seed = since; seed < since + MAX_SEEDS; seed++) {
    const { violations } = await simulate(seed, { plant, often })
    if (violations.some(({ law }) => plant.laws.includes(law))) return seed
    others.push(...violations.map(({ law }) => `seed ${seed}: ${law}`))
  }
  const instead = others.length === 0 ? '' : `; it breaks other laws: ${others.slice(0, 5).join('; ')}`
  throw new Error(`${plant.name} is not found in ${MAX_SEEDS} seeds from ${since} on${instead}`)
}
