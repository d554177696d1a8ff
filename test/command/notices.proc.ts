import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ended, start, TempReeve } from './commands.ts'

const SCOPE = 'session:s1'
const IN_S1 = { owner: { session: 's1' } } as const

test('a notice is sent without the end of the output if the log cannot be read', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  await reeve.openSession({ session: 's1' })
  const broken = await ended(reeve, (await start(reeve, 'echo one', IN_S1)).pid)
  const whole = await ended(reeve, (await start(reeve, 'echo two', IN_S1)).pid)
  const folder = join(temp.keeperHome.output, broken.pid)
  rmSync(folder, { recursive: true })
  writeFileSync(folder, 'no folder')
  const { notices } = await reeve.notices({ scope: SCOPE })
  expect(notices.map(({ pid }) => pid)).toEqual([broken.pid, whole.pid])
  expect(notices[0]?.text).toContain('completed')
  expect(notices[1]?.text).toContain('two')
  expect(temp.troubles).toEqual([expect.stringContaining(`reading the output of ${broken.pid}`)])
  rmSync(folder)
})
