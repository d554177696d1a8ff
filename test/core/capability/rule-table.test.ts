import { expect, test } from 'vitest'
import { matching, tableOf } from '../../../src/core/capability/rule-table.ts'
import { allow, command, deny, NOON, tool } from './rules.ts'

test('a list of rules is compiled once', () => {
  const rules = [allow('tool:a')]
  expect(tableOf(rules)).toBe(tableOf(rules))
  expect(tableOf([...rules])).not.toBe(tableOf(rules))
})

test('a check looks only at rules that may be about its resource, however many there are', () => {
  const others = Array.from({ length: 1000 }, (_, index) => [
    allow(`tool:t${index}`),
    deny(`shell:p${index} push`),
    deny(`fs:f${index}/**`),
    deny(`net:*.h${index}.dev`),
  ])
  const table = tableOf(others.flat())
  expect(
    table.byKind
      .get('tool')
      ?.byKey.get('t7')
      ?.map(({ rule }) => rule.id),
  ).toEqual(['tool:t7'])
  expect(table.byKind.get('shell')?.byKey.get('p7')?.length).toBe(1)
  for (const { others: wildcards } of table.byKind.values()) expect(wildcards).toEqual([])
})

test('matching rules come in the order of their list, whether their names are wildcards or not', () => {
  const rules = [deny('tool:*'), allow('tool:a'), deny('tool:**'), allow('tool:b'), deny('tool:a')]
  expect(matching(tableOf(rules), tool('a'), { at: NOON, host: null })).toEqual([
    { rule: rules[0], match: 'yes' },
    { rule: rules[1], match: 'yes' },
    { rule: rules[2], match: 'yes' },
    { rule: rules[4], match: 'yes' },
  ])
})

test('a rule that may match is listed as such, an allow is not listed', () => {
  const rules = [deny('shell:git push'), allow('shell:git push')]
  expect(matching(tableOf(rules), command('git $'), { at: NOON, host: null })).toEqual([
    { rule: rules[0], match: 'unknown' },
  ])
})
