import { type Embedded, embed, type ReeveVerbs } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { tempStore } from '../temp-folder.ts'

const OUTSIDE = { kind: 'external', spec: { description: 'x' } } as const

async function opened(store = tempStore()): Promise<Embedded> {
  const reeve = await embed({ store })
  onTestFinished(() => reeve.close())
  return reeve
}

/** A process of session `s1`, granted to session `s2`. */
async function granted(reeve: Embedded): Promise<string> {
  for (const session of ['s1', 's2', 's3']) await reeve.openSession({ session })
  const { record } = await reeve.spawn({ ...OUTSIDE, owner: { session: 's1' }, grants: [{ session: 's2' }] })
  return record.pid
}

type Lasting = (acting: ReeveVerbs, pid: string, begun: () => void) => Promise<unknown>

/** All calls that last until something happens to a process. A follower says when it has begun. */
const LASTING: Readonly<Record<string, Lasting>> = {
  wait: (acting, pid, begun) => calling(acting.wait({ pid }), begun),
  waitAny: (acting, pid, begun) => calling(acting.waitAny({ pids: [pid] }), begun),
  waitAll: (acting, pid, begun) => calling(acting.waitAll({ pids: [pid] }), begun),
  waitFor: (acting, pid, begun) => calling(acting.waitFor({ pid, types: ['never'] }), begun),
  follow: async (acting, pid, begun) => {
    for await (const _ of acting.follow({ filter: { pid } })) begun()
  },
}

function calling(called: Promise<unknown>, begun: () => void): Promise<unknown> {
  begun()
  return called
}

const LOSSES: Readonly<Record<string, (reeve: Embedded, pid: string) => Promise<unknown>>> = {
  'the grant is revoked': (reeve, pid) => reeve.revoke({ session: 's2', pids: [pid] }),
  'the grant is transferred': (reeve, pid) => reeve.transferGrants({ from: 's2', to: 's3', pids: [pid] }),
  'its session is deleted': (reeve) => reeve.deleteSession({ session: 's2' }),
}

for (const [verb, last] of Object.entries(LASTING)) {
  for (const [circumstance, lose] of Object.entries(LOSSES))
    test(`a ${verb} on a granted process is denied at once when ${circumstance}`, async () => {
      const reeve = await opened()
      const pid = await granted(reeve)
      const begun = Promise.withResolvers<void>()
      const lasting = last(reeve.as('session:s2'), pid, begun.resolve).catch((error: unknown) => error)
      await begun.promise
      await lose(reeve, pid)
      expect(await lasting).toMatchObject({ code: 'denied' })
    })

  test(`a ${verb} on an own process is denied at once when the process moves to another session`, async () => {
    const reeve = await opened()
    const pid = await granted(reeve)
    const begun = Promise.withResolvers<void>()
    const lasting = last(reeve.as('session:s1'), pid, begun.resolve).catch((error: unknown) => error)
    await begun.promise
    await reeve.changeOwner({ pid, owner: { session: 's3' } })
    expect(await lasting).toMatchObject({ code: 'denied' })
  })
}

test('a follow of a granted process that is pruned ends with pruned_pid, not with denied', async () => {
  const reeve = await opened()
  const pid = await granted(reeve)
  const { record: other } = await reeve.spawn({ ...OUTSIDE, grants: [{ session: 's3' }] })
  const begun = Promise.withResolvers<void>()
  const following = LASTING['follow']?.(reeve.as('session:s2'), pid, begun.resolve).catch(
    (error: unknown) => error,
  )
  await begun.promise
  await reeve.end({ pid, status: 'completed', replayKey: 'e' })
  await reeve.prune({ pids: [pid] })
  // Revoking any grant makes the kernel check the access of all followers.
  await reeve.revoke({ session: 's3', pids: [other.pid] })
  expect(await following).toMatchObject({ code: 'pruned_pid', message: expect.stringContaining(pid) })
})

test('a wait is denied when another kernel on the same store revokes the grant', async () => {
  const store = tempStore()
  const [here, elsewhere] = [await opened(store), await opened(store)]
  const pid = await granted(here)
  const waiting = here
    .as('session:s2')
    .wait({ pid })
    .catch((error: unknown) => error)
  await here.touchSession({ session: 's2' })
  await elsewhere.revoke({ session: 's2', pids: [pid] })
  expect(await waiting).toMatchObject({ code: 'denied' })
})

test('a wait goes on when a process moves away whose grant its session keeps', async () => {
  const reeve = await opened()
  const pid = await granted(reeve)
  const waiting = reeve.as('session:s2').wait({ pid })
  await reeve.changeOwner({ pid, owner: { session: 's3' } })
  await reeve.end({ pid, status: 'completed', replayKey: 'e' })
  expect(await waiting).toMatchObject({ type: 'ended', record: { pid } })
})

test('a waitAny on two processes is denied when its session loses one of them', async () => {
  const reeve = await opened()
  const pid = await granted(reeve)
  const { record: own } = await reeve.spawn({ ...OUTSIDE, owner: { session: 's2' } })
  const waiting = reeve
    .as('session:s2')
    .waitAny({ pids: [own.pid, pid] })
    .catch((error: unknown) => error)
  await reeve.revoke({ session: 's2', pids: [pid] })
  expect(await waiting).toMatchObject({ code: 'denied' })
})

test('a follow of the whole feed goes on without the events of a process that its session lost', async () => {
  const reeve = await opened()
  const pid = await granted(reeve)
  const seen: string[] = []
  const calledOff = new AbortController()
  const following = (async () => {
    for await (const event of reeve.as('session:s2').follow({}, { signal: calledOff.signal })) {
      seen.push(`${event.pid} ${event.type}`)
      if (event.type === 'ended') calledOff.abort()
    }
  })()
  await reeve.revoke({ session: 's2', pids: [pid] })
  await reeve.changeCwd({ pid, cwd: '/' })
  const { record: own } = await reeve.spawn({ ...OUTSIDE, owner: { session: 's2' } })
  await reeve.end({ pid: own.pid, status: 'completed', replayKey: 'e' })
  await following
  expect(seen.filter((line) => !line.includes('registered'))).toEqual([`${own.pid} ended`])
})
