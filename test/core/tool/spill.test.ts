import fc from 'fast-check'
import { expect, test } from 'vitest'
import { spill } from '../../../src/core/tool/spill.ts'

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`).join('\n')

test('an output of 80 lines or 12 KiB is shown whole', () => {
  expect(spill(lines(80), 'read_output p_1')).toEqual({ type: 'inline', text: lines(80) })
  expect(spill(`${lines(80)}\n`, 'r')).toMatchObject({ type: 'inline' })
  expect(spill('a'.repeat(12 * 1024), 'r')).toMatchObject({ type: 'inline' })
  expect(spill('', 'r')).toEqual({ type: 'inline', text: '' })
})

test('of a longer output the last 80 lines are shown, and where the rest is', () => {
  const spilled = spill(lines(100), 'read_output p_1')
  expect(spilled).toMatchObject({ type: 'spilled', lines: 100, shownFrom: 21 })
  const shown = spilled.text.split('\n')
  expect(shown[0]).toBe(
    '(100 lines, 791 bytes; this is lines 21 to 100. Read the rest with read_output p_1.)',
  )
  expect(shown.slice(1)).toEqual(lines(100).split('\n').slice(20))
})

test('long lines count by their bytes, and of one long line its end is shown', () => {
  const wide = Array.from({ length: 20 }, () => 'é'.repeat(1_000)).join('\n')
  expect(spill(wide, 'r')).toMatchObject({ type: 'spilled', shownFrom: 15 })
  const one = spill(`${'🙂'.repeat(5_000)}end`, 'r')
  expect(one.text).toMatch(/the end of line 1\. /)
  expect(one.text.endsWith('🙂end')).toBe(true)
})

test('no output makes a result that is much larger than the bound', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 40_000 }), (output) => {
      expect(Buffer.byteLength(spill(output, 'r').text)).toBeLessThanOrEqual(12 * 1024 + 200)
    }),
    { numRuns: 30 },
  )
})
