import { embed } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { tempStore } from '../temp-folder.ts'

async function withSession() {
  const reeve = await embed({ store: tempStore() })
  onTestFinished(() => reeve.close())
  await reeve.openSession({ session: 's1' })
  return { reeve, session: reeve.as('session:s1') }
}

test('of twenty environments of a session the last eight are kept', async () => {
  const { reeve, session } = await withSession()
  const refs: string[] = []
  for (let index = 0; index < 20; index++) {
    const variables = { PADDING: `${index} `.padEnd(100_000, 'x') }
    refs.push((await session.putEnvironment({ variables, policy: {}, options: {} })).envRef)
  }
  const isKept = (envRef: string) =>
    reeve.environment({ envRef }).then(
      () => true,
      () => false,
    )
  const kept = await Promise.all(refs.map(isKept))
  expect(refs.filter((_, index) => kept[index])).toEqual(refs.slice(-8))
})

test('an environment of a session has no policy, no secrets, no options of its own, and a bounded length', async () => {
  const { reeve, session } = await withSession()
  const plain = { variables: { STAGE: 'test' }, policy: {}, options: { appendsBasePath: true } }
  const refused = [
    [{ ...plain, policy: { network: true } }, 'denied'],
    [{ ...plain, options: { sandbox: false } }, 'denied'],
    [{ ...plain, variables: { KEY: { secret: 'KEY' } } }, 'denied'],
    [{ ...plain, variables: { LONG: 'x'.repeat(300_000) } }, 'payload_too_large'],
  ] as const
  for (const [environment, code] of refused)
    await expect(session.putEnvironment(environment)).rejects.toMatchObject({ code })
  const { envRef } = await session.putEnvironment(plain)
  expect(await reeve.environment({ envRef })).toEqual(plain)
  // The host may do all of it.
  for (const [environment] of refused) await reeve.putEnvironment(environment)
})
