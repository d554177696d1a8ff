import { describe, expect, it } from 'vitest'
import { innocent, secrets } from './blind-corpus.ts'

const fragmentsOf = (secret: string | readonly string[]): readonly string[] =>
  typeof secret === 'string' ? [secret] : secret

describe('the blind corpus', () => {
  it('has 200 texts with secrets and at least 300 without', () => {
    expect(secrets).toHaveLength(200)
    expect(innocent.length).toBeGreaterThanOrEqual(300)
  })

  it('repeats no text', () => {
    const texts = [...secrets.map(({ text }) => text), ...innocent]
    expect(new Set(texts).size).toBe(texts.length)
  })

  it('names a family for each secret', () => {
    expect(secrets.filter(({ family }) => family.trim() === '')).toEqual([])
  })

  it('declares secrets that occur in their text', () => {
    for (const { text, secret } of secrets) {
      const fragments = fragmentsOf(secret)
      expect(fragments, text).not.toHaveLength(0)
      for (const fragment of fragments) {
        expect(fragment.length, text).toBeGreaterThanOrEqual(4)
        expect(text).toContain(fragment)
      }
    }
  })
})
