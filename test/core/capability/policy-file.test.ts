import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { commandLineNeeds } from '../../../src/command/resolve-action.ts'
import { parsePolicyFile } from '../../../src/core/capability/policy-file.ts'
import { ruleText } from '../../../src/core/capability/rule.ts'
import { policyFileSchema, policyJsonSchema } from '../../../src/verbs/policy-file-schema.ts'

const needs = await commandLineNeeds()
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

test('a rule is named by what it says, wherever it is in the file', () => {
  const idsOf = (...rules: readonly object[]) =>
    parsePolicyFile(JSON.stringify({ rules }), needs, sha256).rules.map(({ id }) => id)
  const ask = { effect: 'ask', resource: 'tool:deploy' }
  const deny = { effect: 'deny', resource: 'tool:deploy' }
  const [first, second] = idsOf(ask, deny)
  expect(first).not.toBe(second)
  expect(idsOf(deny, { resource: 'tool:deploy', effect: 'ask', justification: 'reviewed' })).toEqual([
    second,
    first,
  ])
  expect(idsOf({ ...ask, answerWithinMs: 5 })).not.toEqual([first])
  expect(idsOf(ask, ask, deny, ask)).toEqual([first, `${first}-2`, second, `${first}-3`])
})

test('a file has the rules of its preset and its own', () => {
  const { rules, problems } = parsePolicyFile(
    JSON.stringify({
      $schema: 'https://example.com/policy.schema.json',
      preset: 'observe',
      rules: [
        { effect: 'ask', resource: 'shell:git push', match: ['git push origin'], nonmatch: ['git status'] },
        { id: 'keep', effect: 'deny', resource: 'fs:dist/**', rights: ['write'] },
      ],
    }),
    needs,
    sha256,
  )
  expect(problems).toEqual([])
  expect(rules.filter(({ preset }) => preset === 'observe')).toHaveLength(5)
  expect(rules.slice(-2).map(({ id }) => id)).toEqual([expect.stringMatching(/^f-[0-9a-f]{16}$/), 'keep'])
  expect(rules.slice(-2).map(ruleText)).toEqual(['ask  execute shell:git push', 'deny  write fs:dist/**'])
})

const CASES: readonly (readonly [text: string, line: number, said: string])[] = [
  ['{\n  "rules": [\n    {,\n', 3, 'a key in double quotes'],
  ['[]', 1, 'one object'],
  ['{\n  "rule": []\n}', 2, 'no key "rule". Did you mean rules'],
  ['{\n  "preset": "edti"\n}', 2, 'Did you mean edit'],
  ['{\n  "preset": "sandboxed"\n}', 2, 'this version of Reeve has none'],
  ['{\n  "preset": 1\n}', 2, 'must be a name'],
  ['{\n  "rules": {}\n}', 2, 'must be a list'],
  ['{\n  "rules": [\n    1\n  ]\n}', 3, 'must be an object'],
  ['{\n"rules": [\n{ "effect": "ask",\n"resource": "*" }]}', 4, 'would cover everything'],
  ['{\n"rules": [\n{ "effect": "ask",\n"resource": "shel:git" }]}', 4, 'Did you mean shell'],
  ['{\n"rules": [\n{\n"effect": "aks", "resource": "shell:git" }]}', 4, 'effect of a rule must be'],
  ['{\n"rules": [\n{ "effect": "ask", "resource": "shell:git",\n"becuase": "x" }]}', 4, 'no field "becuase"'],
  [
    '{\n"rules": [\n{ "effect": "ask", "resource": "shell:git",\n"rights": ["exec"] }]}',
    4,
    'no right "exec"',
  ],
  [
    '{\n"rules": [\n{ "effect": "ask", "resource": "shell:git", "constraints": {\n"argz": ["x"] } }]}',
    4,
    'Did you mean args',
  ],
  [
    '{\n"rules": [\n{ "effect": "ask", "resource": "shell:git push", "match": ["git push",\n"git status"] }]}',
    4,
    'does not match it',
  ],
  [
    '{\n"rules": [\n{ "effect": "deny", "resource": "shell:git",\n"nonmatch": ["git status"] }]}',
    4,
    'matches it',
  ],
  ['{\n"rules": [\n{ "effect": "allow", "resource": "shell:ls",\n"uses": 3 }]}', 4, 'has no uses'],
  [
    '{\n"rules": [\n{ "id": "a", "effect": "ask", "resource": "shell:ls" },\n{ "id": "a", "effect": "ask", "resource": "shell:rm" }]}',
    2,
    'Two rules have the id a',
  ],
]

test.each(CASES)('%j is wrong in line %i', (text, line, said) => {
  const { problems } = parsePolicyFile(text, needs, sha256)
  expect(problems).toContainEqual({
    line,
    message: expect.stringContaining(said),
    remedy: expect.any(String),
  })
})

test('every wrong rule is named, not the first alone', () => {
  const { problems } = parsePolicyFile(
    '{ "rules": [\n{ "effect": "x", "resource": "shell:a" },\n{ "effect": "ask", "resource": "b" }] }',
    needs,
    sha256,
  )
  expect(problems.map(({ line }) => line)).toEqual([2, 3])
})

test('the published schema is that of the code', () => {
  expect(JSON.parse(readFileSync('docs/policy.schema.json', 'utf8'))).toEqual(policyJsonSchema())
})

test('the published schema accepts what the code accepts, and refuses wrong keys and values as it does', () => {
  const good = [
    {},
    { preset: 'edit', rules: [] },
    { rules: [{ effect: 'ask', resource: 'shell:git push', justification: 'x', match: ['git push'] }] },
    {
      rules: [
        {
          id: 'a',
          effect: 'allow',
          resource: 'fs:src/**',
          rights: ['read', 'write'],
          constraints: {
            paths: ['src/*.ts'],
            maxBytes: 9,
            hours: { from: '09:00', to: '17:00', days: ['mon'] },
          },
          hosts: ['h'],
          expiresAt: 1,
        },
      ],
    },
    { rules: [{ effect: 'ask', resource: 'shell:npm', requestable: true, reviewer: 'careful' }] },
  ]
  for (const file of good) {
    expect(policyFileSchema.safeParse(file).success).toBe(true)
    expect(parsePolicyFile(JSON.stringify(file), needs, sha256).problems).toEqual([])
  }
  const bad = [
    { rule: [] },
    { preset: 'sandboxed' },
    { rules: [{ effect: 'ask' }] },
    { rules: [{ effect: 'ask', resource: 'shell:git', uses: 1 }] },
    { rules: [{ effect: 'ask', resource: 'shell:git', rights: [] }] },
    { rules: [{ effect: 'ask', resource: 'shell:git', constraints: { argz: [] } }] },
    { rules: [{ effect: 'ask', resource: 'shell:git', requestable: false }] },
  ]
  for (const file of bad) {
    expect(policyFileSchema.safeParse(file).success).toBe(false)
    expect(parsePolicyFile(JSON.stringify(file), needs, sha256).problems).not.toEqual([])
  }
})
