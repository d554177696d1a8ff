import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('every error code is documented, and every documented one exists', () => {
  const declared = ['src/core/refusal.ts', 'src/core/errors.ts'].flatMap((file) =>
    all(/^ {2}\| '(?<code>[a-z_]+)'$/gm, file),
  )
  const documented = all(/^\| `(?<code>[a-z_]+)` \|/gm, 'docs/errors.md')
  expect(declared.length).toBeGreaterThan(30)
  expect(documented.toSorted()).toEqual(declared.toSorted())
})

function all(pattern: RegExp, file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(pattern)].map(({ groups }) => groups?.['code'] ?? '')
}
