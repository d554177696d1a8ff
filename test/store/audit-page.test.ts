import { expect, test } from 'vitest'
import { scannedRange } from '../../src/store/audit-page.ts'

const TAIL = { position: 25_000, hash: 'h', start: null }
const PRUNED = { ...TAIL, start: { position: 4_000, hash: 's', signature: '' } }

test('a page looks at ten thousand entries, and says where the next one continues', () => {
  expect(scannedRange({ after: null, limit: 1 }, TAIL)).toEqual({ after: 0, through: 10_000, next: 10_000 })
  expect(scannedRange({ after: 20_000, limit: 1 }, TAIL)).toEqual({
    after: 20_000,
    through: 25_000,
    next: null,
  })
  expect(scannedRange({ after: null, limit: 1, newestFirst: true }, TAIL)).toEqual({
    after: 15_000,
    through: 25_000,
    next: 15_001,
  })
  expect(scannedRange({ after: 5_001, limit: 1, newestFirst: true }, TAIL)).toEqual({
    after: 0,
    through: 5_000,
    next: null,
  })
})

test('entries that were removed are not looked for', () => {
  expect(scannedRange({ after: null, limit: 1 }, PRUNED)).toEqual({
    after: 4_000,
    through: 14_000,
    next: 14_000,
  })
  expect(scannedRange({ after: 6_001, limit: 1, newestFirst: true }, PRUNED)).toEqual({
    after: 4_000,
    through: 6_000,
    next: null,
  })
})
