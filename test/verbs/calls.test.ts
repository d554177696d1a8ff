import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { verbCallsText } from '../../scripts/write-verb-calls.ts'

test('src/verbs/calls.ts is what scripts/write-verb-calls.ts makes of the verbs', () => {
  expect(readFileSync('src/verbs/calls.ts', 'utf8')).toBe(verbCallsText())
})

test('editors have a text for every verb and every member of an input', () => {
  const lines = readFileSync('src/verbs/calls.ts', 'utf8').split('\n')
  const isMember = (line: string) => /^ +(?!input\b|options\b|type: '|kind: ')\w+\??[:(]/.test(line)
  const bare = lines.filter((line, at) => isMember(line) && !lines[at - 1]?.endsWith('*/'))
  expect(bare).toEqual([])
})
