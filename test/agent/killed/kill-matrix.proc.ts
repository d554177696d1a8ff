import { describe, expect, test } from 'vitest'
import { newStores } from '../../crash/new-stores.ts'
import type { Death } from '../../dying-store.ts'
import { isLongRun } from '../../long-run.ts'
import { Random } from '../../simulation/random.ts'
import { KilledTurns } from './killed-turn.ts'

const SEED = Number(process.env['REEVE_SEED'] ?? 1)
/** Of the writes of one session, in `npm test`. `npm run soak:turns` kills at each. */
const SAMPLE = 1
/** More than would end a turn without progress. */
const DEATHS = isLongRun ? 12 : 6
const LONG_MS = 4 * 3_600_000

describe.each(Object.entries(newStores))('%s', (_name, newStore) => {
  test.each(['before', 'after'] as const)(
    'a program that is killed %s any commit of a turn repeats no tool, loses no input, and keeps the prompt',
    { timeout: isLongRun ? LONG_MS : 600_000 },
    async (when) => {
      const turns = await KilledTurns.over(await newStore())
      const whole = turns.begin('whole')
      const writes = (await whole.live(null)) ?? 0
      await whole.check()
      for (const commit of commitsToDieAt(writes)) {
        const turn = turns.begin(`${when}-${commit}`)
        await turn.live({ commit, when })
        await turn.check()
      }
    },
  )
})

test(`an agent lives on after ${DEATHS} deaths of its programs with progress between them`, async () => {
  const turns = await KilledTurns.over(await newStores.SQLite())
  const random = new Random(SEED)
  const turn = turns.begin('often')
  // Enough for a step of progress: five deaths without any would end the turn.
  const nextDeath = (): Death => ({ commit: random.between(24, 28), when: random.pick(['before', 'after']) })
  for (let deaths = 0; deaths < DEATHS; deaths++) expect(await turn.live(nextDeath())).toBeNull()
  await turn.check()
})

test('a kernel that repeats a tool is found', async () => {
  const turn = (await KilledTurns.over(await newStores.SQLite())).begin('planted', { repeatsNotes: true })
  expect(await turn.live(null)).toBeNull()
  await expect(turn.check()).rejects.toThrow('note 0.0 ran 2 times')
})

function commitsToDieAt(writes: number): readonly number[] {
  const all = Array.from({ length: writes }, (_, index) => index + 1)
  if (isLongRun) return all
  const random = new Random(SEED)
  return Array.from({ length: SAMPLE }, () => random.pick(all))
}
