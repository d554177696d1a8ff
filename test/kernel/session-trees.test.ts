import { expect, test } from 'vitest'
import { embedTemp } from '../embed-temp.ts'

const OUTSIDE = { kind: 'external', spec: { description: 'elsewhere' } } as const

test('a session reads counts, budgets and grants of the sessions below it, and of no others', async () => {
  const reeve = await embedTemp()
  await reeve.openSession({ session: 'top' })
  await reeve.openSession({ session: 'low', parentSession: 'top' })
  await reeve.openSession({ session: 'other' })
  await reeve.as('session:low').spawn(OUTSIDE)
  const top = reeve.as('session:top')
  expect(await top.liveCount({ session: 'top' })).toMatchObject({ live: 1 })
  expect(await top.liveCount({ session: 'low' })).toMatchObject({ live: 1 })
  expect(await top.budget({ session: 'low' })).toMatchObject({ used: {} })
  expect(await top.grants({ session: 'low' })).toEqual({ grants: [] })
  const low = reeve.as('session:low')
  for (const refused of [
    low.liveCount({ session: 'top' }),
    low.budget({ session: 'top' }),
    low.grants({ session: 'top' }),
    top.liveCount({ session: 'other' }),
    top.budget({ session: 'none' }),
  ])
    await expect(refused).rejects.toMatchObject({ code: 'denied' })
})
