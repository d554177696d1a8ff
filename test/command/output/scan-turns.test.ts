import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ScanTurns } from '../../../src/command/output/scan-turns.ts'

test('of many searches that are woken at once, each turn of the event loop lets one go on, in order', async () => {
  const turns = new ScanTurns()
  const begun: number[] = []
  const all = Array.from({ length: 50 }, (_, at) => turns.next().then(() => begun.push(at)))
  expect(begun).toEqual([])
  const perTurn: number[] = []
  for (let before = 0; begun.length < 50; before = begun.length) {
    await nextTurn()
    perTurn.push(begun.length - before)
  }
  await Promise.all(all)
  expect(begun).toEqual(Array.from({ length: 50 }, (_, at) => at))
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(1)
})
