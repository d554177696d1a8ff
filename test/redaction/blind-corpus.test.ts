import { describe, expect, it } from 'vitest'
import { innocent, secrets } from './blind-corpus.ts'
import { secondSecrets } from './second-blind-corpus.ts'

const fragmentsOf = (secret: string | readonly string[]): readonly string[] =>
  typeof secret === 'string' ? [secret] : secret

describe.each([
  { name: 'first', texts: secrets },
  { name: 'second', texts: secondSecrets },
])('the $name blind corpus', ({ texts }) => {
  it('has 200 texts with secrets', () => {
    expect(texts).toHaveLength(200)
  })

  it('names a family for each secret', () => {
    expect(texts.filter(({ family }) => family.trim() === '')).toEqual([])
  })

  it('declares secrets that occur in their text', () => {
    for (const { text, secret } of texts) {
      const fragments = fragmentsOf(secret)
      expect(fragments, text).not.toHaveLength(0)
      for (const fragment of fragments) {
        expect(fragment.length, text).toBeGreaterThanOrEqual(4)
        expect(text).toContain(fragment)
      }
    }
  })
})

describe('the blind corpora', () => {
  it('have at least 300 texts without secrets', () => {
    expect(innocent.length).toBeGreaterThanOrEqual(300)
  })

  it('repeat no text', () => {
    const texts = [...[...secrets, ...secondSecrets].map(({ text }) => text), ...innocent]
    expect(new Set(texts).size).toBe(texts.length)
  })
})
