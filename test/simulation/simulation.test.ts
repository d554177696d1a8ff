import { describe, expect, test } from 'vitest'
import { plants } from './plants.ts'
import { simulate } from './run.ts'

const SHORT_RUN = 40
const SHORT_RUN_WITH_RULES = 12
/** A planted bug must be found within this many seeds. */
const MAX_SEEDS = 200

test(`${SHORT_RUN} seeds of faults, deaths and random requests break no law`, {
  timeout: 600_000,
}, async () => {
  for (let seed = 1; seed <= SHORT_RUN; seed++) expect(await lawsBroken(seed), `seed ${seed}`).toEqual([])
})

test(`${SHORT_RUN_WITH_RULES} seeds with rules, approvals and delegations break no law`, {
  timeout: 600_000,
}, async () => {
  for (let seed = 1; seed <= SHORT_RUN_WITH_RULES; seed++)
    expect(await lawsBroken(seed, true), `seed ${seed}`).toEqual([])
})

test('one seed gives the same trace twice, byte for byte', { timeout: 120_000 }, async () => {
  const [first, second] = [await simulate(7), await simulate(7)]
  expect(second.trace).toEqual(first.trace)
  expect(second.hash).toBe(first.hash)
  expect((await simulate(8)).hash).not.toBe(first.hash)
})

describe('a planted bug is found, and the same seed is clean without it', () => {
  test.each(plants.map((plant) => [plant.name, plant] as const))(
    '%s',
    { timeout: 600_000 },
    async (_name, plant) => {
      let found: number | undefined
      const { since = 1 } = plant
      for (let seed = since; found === undefined && seed < since + MAX_SEEDS; seed++) {
        const { violations } = await simulate(seed, { plant })
        if (violations.some(({ law }) => plant.laws.includes(law))) found = seed
        else
          expect(
            violations.map(({ law }) => law),
            `seed ${seed} breaks another law first`,
          ).toEqual([])
      }
      expect(found, `${plant.name} is not found in ${MAX_SEEDS} seeds`).toBeDefined()
      expect(await lawsBroken(found ?? 0, plant.hasRules), `seed ${found}`).toEqual([])
    },
  )
})

/** Without a plant, each seed runs once for all tests. */
const clean = new Map<string, readonly string[]>()

async function lawsBroken(seed: number, hasRules = false): Promise<readonly string[]> {
  const key = `${seed} ${hasRules}`
  const known = clean.get(key)
  if (known !== undefined) return known
  const { violations } = await simulate(seed, { hasRules })
  const laws = violations.map(({ law, what }) => `${law}: ${what}`)
  clean.set(key, laws)
  return laws
}
