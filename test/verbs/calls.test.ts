import { readFileSync } from 'node:fs'
import { expect, expectTypeOf, test } from 'vitest'
import { verbCallsText } from '../../scripts/write-verb-calls.ts'
import type { VerbCalls } from '../../src/verbs/calls.ts'
import type { OutputOf } from '../../src/verbs/reeve.ts'

test('src/verbs/calls.ts is what scripts/write-verb-calls.ts makes of the verbs', () => {
  expect(readFileSync('src/verbs/calls.ts', 'utf8')).toBe(verbCallsText())
})

test('the answers that are spelled out are those of the schemas', () => {
  type Answers = { [Name in keyof VerbCalls]: Awaited<ReturnType<VerbCalls[Name]>> }
  type Outputs = { [Name in keyof VerbCalls]: OutputOf<Name> }
  expectTypeOf<Answers>().toExtend<Outputs>()
  expectTypeOf<Outputs>().toExtend<Answers>()
})

test('editors have a text for every verb, and for every member of an input or of an answer that is spelled out', () => {
  const lines = readFileSync('src/verbs/calls.ts', 'utf8').split('\n')
  const isMember = (line: string) => /^ +(?!input\b|options\b|type: '|kind: ')\w+\??[:(]/.test(line)
  const bare = lines.filter((line, at) => isMember(line) && !lines[at - 1]?.endsWith('*/'))
  expect(bare).toEqual([])
})
