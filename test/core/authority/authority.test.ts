import { embed } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { ownerPolicy } from '../../../src/core/authority/authorize.ts'
import { visibilityOf } from '../../../src/core/authority/visibility.ts'
import { RIGHTS } from '../../../src/core/capability/right.ts'
import type { Actor } from '../../../src/core/process/record.ts'
import { tempStore } from '../../temp-folder.ts'

async function processOf(session: string) {
  const reeve = await embed({ store: tempStore() })
  onTestFinished(() => reeve.close())
  await reeve.openSession({ session })
  const owner = { session }
  const { record } = await reeve.spawn({ kind: 'external', spec: { description: 'x' }, owner })
  return { reeve, record }
}

test.for(['', 'human', 'hosts', 'kernel', 'Session:mine', 'token:t1'])(
  'an actor of no known kind, %j, has no right to anything',
  async (name) => {
    const { reeve, record } = await processOf('mine')
    const actor = name as Actor
    expect(visibilityOf(actor)).toEqual({ type: 'none' })
    for (const right of RIGHTS)
      for (const resource of [
        { type: 'process', record, granted: true },
        { type: 'registration', owner: {}, parent: null },
        { type: 'registration', owner: record.owner, parent: record },
        { type: 'session', id: 'mine' },
        { type: 'store' },
      ] as const)
        expect(ownerPolicy(actor, right, resource), `${right} ${resource.type}`).toMatchObject({
          code: 'denied',
        })
    expect(() => reeve.as(actor)).toThrow(/must be host, human:/)
  },
)

test.for(['host', 'human:ada', 'kernel:k1'] as const)('%s may do everything', async (actor) => {
  const { record } = await processOf('mine')
  expect(visibilityOf(actor)).toEqual({ type: 'all' })
  for (const right of RIGHTS) expect(ownerPolicy(actor, right, { type: 'process', record })).toBeUndefined()
})

test('the session of an agent registers processes below the agent, and below no other', async () => {
  const { reeve, record: other } = await processOf('mine')
  const { record: parent } = await reeve.spawn({ kind: 'agent', spec: { agent: 'a', model: 'scripted/x' } })
  const actor = `session:agent:${parent.pid}` as const
  const owner = { session: `agent:${parent.pid}` }
  expect(ownerPolicy(actor, 'execute', { type: 'registration', owner, parent })).toBeUndefined()
  for (const denied of [
    { owner: {}, parent },
    { owner: { session: 'mine' }, parent },
    { owner, parent: other },
  ])
    expect(ownerPolicy(actor, 'execute', { type: 'registration', ...denied })).toMatchObject({
      code: 'denied',
    })
  const stranger = `session:agent:p_${'0'.repeat(12)}` as const
  expect(ownerPolicy(stranger, 'execute', { type: 'registration', owner, parent })).toMatchObject({
    code: 'denied',
  })
})
