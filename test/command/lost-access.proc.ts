import type { ReeveVerbs } from 'reeve'
import { expect, test } from 'vitest'
import { codeOf, printed, start, TempReeve } from './commands.ts'

/** Each ends with an error when access is lost, and says when it has begun. */
const LASTING: Readonly<
  Record<string, (acting: ReeveVerbs, pid: string, begun: () => void) => Promise<void>>
> = {
  followOutput: async (acting, pid, begun) => {
    for await (const _ of acting.followOutput({ pid })) begun()
  },
  attach: async (acting, pid, begun) => {
    for await (const _ of await acting.attach({ pid })) begun()
  },
  'wait for a line': async (acting, pid, begun) => {
    begun()
    await acting.wait({ pid, until: { text: 'never' } })
  },
}

for (const [name, last] of Object.entries(LASTING))
  test(`${name} on a command is denied when the command moves to another session`, async () => {
    await using temp = new TempReeve()
    const reeve = await temp.embed()
    for (const session of ['s1', 's2']) await reeve.openSession({ session })
    const spec = { run: 'echo ready; sleep 300', pty: true }
    const { pid } = await start(reeve, spec, { owner: { session: 's1' } })
    await printed(reeve, pid, 'ready')
    const begun = Promise.withResolvers<void>()
    const code = codeOf(last(reeve.as('session:s1'), pid, begun.resolve))
    await begun.promise
    await reeve.changeOwner({ pid, owner: { session: 's2' } })
    expect(await code).toBe('denied')
  })

test('an observer of its own command cannot write to it', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  await reeve.openSession({ session: 's1' })
  const { pid } = await start(reeve, { run: 'echo ready; cat', pty: true }, { owner: { session: 's1' } })
  await printed(reeve, pid, 'ready')
  const observer = reeve.observing('session:s1')
  const attached = await observer.attach({ pid })
  expect(await codeOf(attached.write('x\n'))).toBe('denied')
  expect(await codeOf(attached.resize({ cols: 10, rows: 10 }))).toBe('denied')
  expect(await codeOf(observer.kill({ pid }))).toBe('denied')
  attached.detach()
})
