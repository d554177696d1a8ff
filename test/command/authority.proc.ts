import type { ReeveVerbs } from 'reeve'
import { expect, test } from 'vitest'
import { codeOf, printed, start, TempReeve } from './commands.ts'

/** Every verb that acts on a command. */
async function codes(door: ReeveVerbs, pid: string): Promise<{ reading: Set<string>; acting: Set<string> }> {
  const reading = [
    door.show({ pid }),
    door.poll({ pid }),
    door.log({ pid }),
    door.search({ pid, text: 'x' }),
    door.screen({ pid }),
    door.output({ pid }),
    door.usage({ pid }),
    door.wait({ pid, until: { text: 'ready' } }),
  ]
  const acting = [
    door.write({ pid, text: 'x' }),
    door.submit({ pid, text: 'x' }),
    door.closeInput({ pid }),
    door.resize({ pid, cols: 80, rows: 24 }),
    door.signal({ pid, signal: 'SIGKILL' }),
    door.signal({ pid, signal: 'pause' }),
    door.kill({ pid }),
    door.restart({ pid }),
    door.attach({ pid }).then((attached) => attached.write('x')),
  ]
  const [read, acted] = await Promise.all(
    [reading, acting].map((asked) => Promise.all(asked.map((one) => codeOf(one)))),
  )
  return { reading: new Set(read), acting: new Set(acted) }
}

test('a session does nothing with the command of another, and may only look at one that it was shown', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  await reeve.openSession({ session: 'own' })
  await reeve.openSession({ session: 'other' })
  const { pid } = await start(reeve, { run: 'echo ready; cat', pty: true }, { owner: { session: 'own' } })
  await printed(reeve, pid, 'ready')
  const before = await reeve.show({ pid })
  const other = reeve.as('session:other')
  expect(await codes(other, pid)).toEqual({ reading: new Set(['denied']), acting: new Set(['denied']) })
  await reeve.grant({ session: 'other', pids: [pid] })
  const shown = await codes(other, pid)
  expect(shown).toEqual({ reading: new Set(['accepted']), acting: new Set(['denied']) })
  expect(await other.killAll()).toMatchObject({ signalled: [] })
  expect(await reeve.show({ pid })).toEqual(before)
  // Its own may do everything.
  const own = reeve.as('session:own')
  expect(await own.submit({ pid, text: 'mine' })).toMatchObject({ type: 'written' })
  expect((await own.kill({ pid })).record.outcome).toMatchObject({ source: 'session:own', reason: 'killed' })
})
