import { expect, test } from 'vitest'
import { refuseExamples } from '../../../src/core/capability/examples.ts'
import type { Rule } from '../../../src/core/capability/rule.ts'
import { allow, ask, command, deny, NOON } from './rules.ts'

/** Commands of literal words, joined by &&. */
const needsOf = (line: string) => line.split(' && ').map((part) => command(part))

const problemOf = (rule: Rule) => refuseExamples(rule, needsOf)

test('a rule whose examples hold is accepted', () => {
  const examples = { match: ['git push', 'cd x && git push origin'], nonmatch: ['git status', 'ls && pwd'] }
  expect(problemOf(ask('shell:git push', examples))).toBeUndefined()
  expect(
    problemOf(
      deny('fs:secrets/**', { match: ['read fs:secrets/a', 'fs:secrets'], nonmatch: ['write fs:src/a'] }),
    ),
  ).toBeUndefined()
  expect(
    problemOf(
      allow('fs:src/**', { match: ['fs:src/a.ts'], nonmatch: ['write fs:src/a.ts', 'fs:src2/a.ts'] }),
    ),
  ).toBeUndefined()
  expect(
    problemOf(deny('net:*.dev:443', { match: ['net:a.dev:443'], nonmatch: ['net:a.dev:80'] })),
  ).toBeUndefined()
  expect(problemOf(deny('process:*', { match: ['signal process:p_a'] }))).toBeUndefined()
})

test('a rule whose example does not hold is refused, and the refusal names it', () => {
  expect(problemOf(ask('shell:git push', { match: ['git push', 'git fetch'] }))).toMatchObject({
    code: 'invalid_rule',
    message: expect.stringContaining('"git fetch" under match'),
    details: { example: 'git fetch', field: 'match' },
  })
  expect(problemOf(deny('tool:a', { nonmatch: ['tool:a'] }))).toMatchObject({
    details: { example: 'tool:a', field: 'nonmatch' },
  })
})

test('an allow matches a command line if it covers all of it', () => {
  expect(problemOf(allow('shell:git', { match: ['git status && git log'] }))).toBeUndefined()
  expect(problemOf(allow('shell:git', { match: ['git status && ls'] }))?.code).toBe('invalid_rule')
  expect(problemOf(allow('shell:git', { nonmatch: ['git status && ls', ''] }))).toBeUndefined()
})

test('what a text cannot show does not count for examples: time, host, sizes', () => {
  const rule = allow('fs:src/**', {
    match: ['fs:src/a.ts'],
    constraints: { maxBytes: 10, paths: ['**/*.ts'], hours: { from: '01:00', to: '01:01' } },
    hosts: ['laptop'],
    expiresAt: NOON,
  })
  expect(problemOf(rule)).toBeUndefined()
  expect(problemOf({ ...rule, match: ['fs:src/a.md'] })?.code).toBe('invalid_rule')
})

test.for(['anything', 'fs:src/*', 'process:p_a/tree', 'net:*.dev', 'read write fs:a', 'shell:git'])(
  'an example that names no resource is refused: %s',
  (example) => {
    expect(problemOf(deny('tool:a', { nonmatch: [example] }))).toMatchObject({
      code: 'invalid_rule',
      message: expect.stringContaining('names no resource'),
      details: { example },
    })
  },
)
