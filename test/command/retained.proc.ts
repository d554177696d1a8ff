import { queryObjects } from 'node:v8'
import { expect, test } from 'vitest'
import { Attempt } from '../../src/kernel/attempt.ts'
import { WorkingRows } from '../../src/kernel/working-rows.ts'
import { runs, TempReeve } from './commands.ts'

/** Counts the live objects after a garbage collection. */
function counted(): { attempts: number; rows: number; controllers: number } {
  const count = (of: new (...args: never[]) => unknown) =>
    queryObjects(of as typeof Object, { format: 'count' })
  return { attempts: count(Attempt), rows: count(WorkingRows), controllers: count(AbortController) }
}

test('nothing is kept in memory for each command that has ended', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const some = async (count: number) => {
    for (let at = 0; at < count; at += 8)
      await Promise.all(Array.from({ length: 8 }, () => runs(reeve, { argv: ['true'] })))
  }
  await some(16)
  const before = counted()
  await some(96)
  // The last of them may still be on their way out.
  for (const what of ['attempts', 'rows', 'controllers'] as const)
    await expect.poll(() => counted()[what], { message: what }).toBeLessThanOrEqual(before[what] + 32)
})
