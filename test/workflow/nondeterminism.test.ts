import { expect, test } from 'vitest'
import { Nondeterminism } from '../../src/workflow/nondeterminism.ts'

test('a change deep in a long history is reported with its context', () => {
  const recorded = new Map(Array.from({ length: 200_000 }, (_, index) => [index + 1, 'step a']))
  const met = Array.from({ length: 100_000 }, () => 'step a').concat('step b')
  const { report } = new Nondeterminism(100_001, { recorded, last: 200_000, met })
  expect(report).toMatchObject({
    stepIndex: 100_001,
    message: 'At step 100001 the log has step a, and the code came to step b.',
    from: 99_501,
  })
  expect((report as { recorded: string[] }).recorded).toHaveLength(1_001)
})
