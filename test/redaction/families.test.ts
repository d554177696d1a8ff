import { describe, expect, test } from 'vitest'
import { Masker } from '../../src/redaction/masker.ts'
import { shows } from './corpus.ts'
import { FAMILIES, LOOKALIKES } from './families.ts'

const masker = new Masker()

describe('output', () => {
  test.each(FAMILIES)('hides $name', (printed) => {
    const whole = `before\n${printed.text}\nbehind\n`
    const masked = masker.bytes(Buffer.from(whole)).toString()
    expect([masked, shows(masked, printed)]).toEqual([masked, false])
    expect(masked).toHaveLength(whole.length)
    expect(masked).toMatch(/^before\n.*\nbehind\n$/s)
    expect(masker.bytes(Buffer.from(masked)).toString()).toBe(masked)
  })

  test.each(FAMILIES)('shows nothing of it while it is printed: $name', (printed) => {
    const whole = Buffer.from(`before\n${printed.text}\n`)
    const final = masker.bytes(whole)
    for (let length = 0; length < whole.length; length++) {
      const bytes = Buffer.from(whole.subarray(0, length))
      const { decided } = masker.stretch({ bytes, from: 0, to: length, clean: true, open: true })
      expect([length, bytes.subarray(0, decided).toString('latin1')]).toEqual([
        length,
        final.subarray(0, decided).toString('latin1'),
      ])
      expect([length, shows(bytes.toString(), printed)]).toEqual([length, false])
    }
  })

  test.each(LOOKALIKES)('leaves it as it is: %s', (text) => {
    expect(masker.bytes(Buffer.from(text)).toString()).toBe(text)
    expect(masker.bytes(Buffer.from(`before\n${text}\nbehind\n`)).toString()).toBe(
      `before\n${text}\nbehind\n`,
    )
  })
})
