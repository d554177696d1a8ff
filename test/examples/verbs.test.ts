import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { verbs } from '../../src/verbs/reeve.ts'

test('every verb has a line in docs/verbs.md, and every line there is a verb', () => {
  const page = readFileSync('docs/verbs.md', 'utf8')
  const documented = [...page.matchAll(/^\| verb \|.*\n\| --- .*\n(?<lines>(?:\| .*\n)+)/gm)].flatMap(
    ({ groups }) =>
      [...(groups?.['lines'] ?? '').matchAll(/^\| `(?<name>\w+)` \|/gm)].map((line) => line.groups?.['name']),
  )
  expect(documented.toSorted()).toEqual(Object.keys(verbs).toSorted())
})

test.each(Object.entries(verbs))('the line of %s names each field of its input', (name, { input }) => {
  const line = readFileSync('docs/verbs.md', 'utf8')
    .split('\n')
    .find((text) => text.startsWith(`| \`${name}\` |`))
  const fields = 'shape' in input ? Object.keys(input.shape as object) : []
  for (const field of fields) expect(line).toMatch(new RegExp(`\`${field}\\??\``))
})
