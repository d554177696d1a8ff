import { expect, test } from 'vitest'
import { codeOf, ruledReeve, tool } from './ruled-reeve.ts'

const DENY = { effect: 'deny', resource: 'tool:**' }

test('equal denials in a loop add one entry to the audit', async () => {
  const { reeve, agent } = await ruledReeve(DENY)
  for (let n = 0; n < 300; n++) expect(await codeOf(agent.spawn(tool('deploy', n)))).toBe('denied')
  const { entries } = await reeve.audit({ decision: 'denied', limit: 500 })
  // The clock of a busy machine may end a window meanwhile.
  expect(entries.length).toBeLessThanOrEqual(2)
})

test('different denials of one actor in a loop are counted together after the first hundred', async () => {
  const { reeve, agent, other } = await ruledReeve(DENY)
  for (let n = 0; n < 400; n++) expect(await codeOf(agent.spawn(tool(`deploy-${n}`)))).toBe('denied')
  const denied = async (actor: string) =>
    (await reeve.audit({ decision: 'denied', actor, limit: 500 })).entries.length
  expect(await denied('session:s1')).toBeGreaterThanOrEqual(100)
  expect(await denied('session:s1')).toBeLessThanOrEqual(200)
  expect(await codeOf(other.spawn(tool('deploy-0')))).toBe('denied')
  expect(await denied('session:s2')).toBe(1)
})
