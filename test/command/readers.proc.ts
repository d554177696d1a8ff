import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ended, start, TempReeve } from './commands.ts'

const MANY = 80

test('any number of readers leaves at most 32 files beside the position of the session', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  await reeve.openSession({ session: 's1' })
  const agent = reeve.as('session:s1')
  const { pid } = await start(reeve, { run: 'echo one' }, { owner: { session: 's1' } })
  await ended(reeve, pid)
  for (let count = 0; count < MANY; count++) {
    const { text } = await agent.poll({ pid, reader: { id: `r${count}`, since: 0 } })
    expect(text).toBe('one\n')
  }
  expect(readdirSync(join(temp.keeperHome.cursors, pid))).toHaveLength(33)
  const last = { id: `r${MANY - 1}`, since: 0 }
  expect((await agent.poll({ pid, reader: last })).text).toBe('')
  expect((await agent.poll({ pid })).text).toBe('')
})

test('a reader begins where its session is in older processes, and at the beginning of newer ones', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  await reeve.openSession({ session: 's1' })
  const agent = reeve.as('session:s1')
  const { pid, createdAt } = await start(reeve, { run: 'echo one' }, { owner: { session: 's1' } })
  await ended(reeve, pid)
  const read = async (id: string, since: number) => (await agent.poll({ pid, reader: { id, since } })).text
  expect(await read('first', createdAt - 1)).toBe('one\n')
  expect(await read('first', createdAt - 1)).toBe('')
  expect(await read('second', createdAt)).toBe('one\n')
  expect(await read('later', createdAt + 1)).toBe('')
})
