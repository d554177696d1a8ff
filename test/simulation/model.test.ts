import { rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { commands } from './model/commands.ts'
import { newModel } from './model/model.ts'
import { Real } from './model/real.ts'
import { endingTwice } from './plants.ts'
import { ramFolder } from './ram-folder.ts'

const RUNS = 200
const folder = ramFolder()
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test(
  'a process over SQLite behaves as its reference model, for any requests in any order',
  {
    timeout: 300_000,
  },
  () => fc.assert(agreement(), { numRuns: RUNS }),
)

test('the model finds a planted second end, and shrinks it to the few requests that show it', {
  timeout: 300_000,
}, async () => {
  const { failed, counterexample } = await fc.check(agreement(endingTwice), { numRuns: RUNS })
  expect(failed).toBe(true)
  // One request that ends the process, and one that ends it again. A run prints the shortest sequence that it found.
  expect([...(counterexample?.[0] ?? [])].length).toBeLessThanOrEqual(3)
})

let files = 0

function agreement(alter?: Parameters<typeof Real.over>[1]) {
  return fc.asyncProperty(fc.commands(commands, { maxCommands: 60, size: 'max' }), async (asked) => {
    files += 1
    const real = await Real.over(join(folder, `${files}.db`), alter)
    try {
      await fc.asyncModelRun(() => ({ model: newModel(), real }), asked)
    } finally {
      await real.close()
    }
  })
}
