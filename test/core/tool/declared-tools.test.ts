import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  DECLARATION_TOKENS,
  type DeclarableTool,
  declarationTokens,
  declareTools,
  searchTools,
} from '../../../src/core/tool/declared-tools.ts'

function tool(name: string, description = 'Does it.', essential = false): DeclarableTool {
  return { name, description, inputSchema: { type: 'object' }, recovery: 'bound', essential }
}

test('all tools are declared while they fit, in their order', () => {
  const tools = [tool('a'), tool('b', 'x', true), tool('c')]
  expect(declareTools(tools)).toMatchObject({ declared: tools, searchable: [] })
})

test('essential tools come first, then found ones; the rest is searchable', () => {
  const tools = [tool('plain'), tool('found'), tool('needed', 'Does it.', true)]
  const two = declarationTokens(tool('found')) + declarationTokens(tool('needed'))
  const { declared, searchable } = declareTools(tools, new Set(['found']), two)
  expect(declared.map(({ name }) => name)).toEqual(['found', 'needed'])
  expect(searchable.map(({ name }) => name)).toEqual(['plain'])
})

test('spare tools come last, wherever they stand in the list', () => {
  const tools = [{ ...tool('spare'), spare: true }, tool('plain')]
  const budget = declarationTokens(tool('plain'))
  expect(declareTools(tools, new Set(), budget).declared.map(({ name }) => name)).toEqual(['plain'])
  const whenFound = declareTools(tools, new Set(['spare']), budget)
  expect(whenFound.declared.map(({ name }) => name)).toEqual(['spare'])
})

test('declarations never take more than the budget, and each tool is declared or searchable', () => {
  const arbitrary = fc.array(fc.tuple(fc.string({ maxLength: 3_000 }), fc.boolean()), { maxLength: 40 })
  fc.assert(
    fc.property(arbitrary, (given) => {
      const tools = given.map(([description, essential], index) => tool(`t${index}`, description, essential))
      const { declared, searchable, tokens } = declareTools(tools)
      expect(tokens).toBeLessThanOrEqual(DECLARATION_TOKENS)
      expect([...declared, ...searchable].map(({ name }) => name).sort()).toEqual(
        tools.map(({ name }) => name).sort(),
      )
    }),
    { numRuns: 50 },
  )
})

test('a search prefers names to descriptions, and knows the words of camel case and underscores', () => {
  const tools = [
    tool('send_mail'),
    tool('other', 'sends a mail'),
    tool('listIssues', 'Lists issues of a repository'),
  ]
  expect(searchTools(tools, 'mail', 5).map(({ name }) => name)).toEqual(['send_mail', 'other'])
  expect(searchTools(tools, 'issues', 5).map(({ name }) => name)).toEqual(['listIssues'])
  expect(searchTools(tools, 'nothing', 5)).toEqual([])
  expect(searchTools(tools, 'mail', 1)).toHaveLength(1)
})
