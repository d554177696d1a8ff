import { describe, expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../src/embed/open-store.ts'
import { newStores } from '../crash/new-stores.ts'
import type { Death } from '../dying-store.ts'
import { isLongRun } from '../long-run.ts'
import { Random } from '../simulation/random.ts'
import { KilledTurns } from './killed-turn.ts'

const SEED = Number(process.env['REEVE_SEED'] ?? 1)
/** Of the writes of one session, in `npm test`. `npm run soak:turns` kills at each. */
const SAMPLE = 6

describe.each(Object.entries(newStores))('%s', (_name, newStore) => {
  test.each(['before', 'after'] as const)(
    'a kernel that dies %s any commit of a turn repeats no tool, loses no input, and keeps the prompt',
    { timeout: 900_000 },
    async (when) => {
      const turns = await killedTurns(await newStore())
      const whole = turns.begin('whole')
      const { writes } = await whole.live(null)
      await whole.check()
      for (const commit of commitsToDieAt(writes)) await dieOnce(turns, { commit, when })
    },
  )
})

test('an agent lives on after twelve deaths of its kernels with progress between them', async () => {
  const turns = await killedTurns(await newStores.SQLite())
  const random = new Random(SEED)
  const turn = turns.begin('often')
  let deaths = 0
  // Enough for a step of progress: five deaths without any would end the turn.
  const nextDeath = (): Death => ({ commit: random.between(15, 18), when: random.pick(['before', 'after']) })
  while ((await turn.live(deaths === 12 ? null : nextDeath())).died) deaths += 1
  await turn.check()
  expect(deaths).toBe(12)
})

test('a kernel that repeats a tool is found', async () => {
  const turn = (await killedTurns(await newStores.SQLite())).begin('planted', { repeatsNotes: true })
  expect(await turn.live(null)).toMatchObject({ died: true })
  expect(await turn.live(null)).toMatchObject({ died: false })
  await expect(turn.check()).rejects.toThrow('note 0.0 ran 2 times')
})

async function killedTurns(address: string): Promise<KilledTurns> {
  const store = await openStore(address)
  onTestFinished(() => store.close())
  return KilledTurns.over(store)
}

async function dieOnce(turns: KilledTurns, death: Death): Promise<void> {
  const turn = turns.begin(`${death.when}-${death.commit}`)
  if ((await turn.live(death)).died) await turn.live(null)
  await turn.check()
}

function commitsToDieAt(writes: number): readonly number[] {
  const all = Array.from({ length: writes }, (_, index) => index + 1)
  if (isLongRun) return all
  const random = new Random(SEED)
  return Array.from({ length: SAMPLE }, () => random.pick(all))
}
