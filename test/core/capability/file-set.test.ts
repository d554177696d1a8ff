import { expect, test } from 'vitest'
import { trusted, untrusted, withVersion } from '../../../src/core/capability/file-set.ts'
import {
  fileSubject,
  folderSubjects,
  subjectHere,
  subjectText,
} from '../../../src/core/capability/folder-subjects.ts'
import { foldersAbove, inWorkspace } from '../../../src/core/capability/in-workspace.ts'
import { parseNeed } from '../../../src/core/capability/parse-need.ts'
import type { Rule } from '../../../src/core/capability/rule.ts'
import { ruleOnAll } from '../../../src/core/capability/rule-on.ts'
import { type RuleSet, setsIn } from '../../../src/core/capability/rule-set.ts'
import type { RulingFacts } from '../../../src/core/capability/ruling-of-set.ts'
import { isRefusal } from '../../../src/core/refusal.ts'

const FACTS: RulingFacts = { at: 0, host: null, delegators: new Map(), used: new Map() }

function rule(effect: Rule['effect'], tool: string, more: Partial<Rule> = {}): Rule {
  return { id: `${effect}-${tool}`, effect, rights: ['execute'], resource: `tool:${tool}`, ...more }
}

function version(was: RuleSet | null, hash: string, ...rules: readonly Rule[]): RuleSet {
  const set = withVersion(was, { subject: 'file:/w', path: '/w/.reeve/policy.json', hash, rules })
  if (isRefusal(set)) throw new Error(set.message)
  return set
}

/** What the set says about a tool: allow, ask or deny. */
function says(set: RuleSet, tool: string): string {
  const need = parseNeed(`execute tool:${tool}`)
  if (need === null) throw new Error(tool)
  return ruleOnAll(setsIn(set), [], [need], FACTS).type
}

test('asks and denies of a new file count at once, what it allows and closes does not', () => {
  const set = version(null, 'h1', rule('allow', 'a'), rule('ask', 'b'), rule('deny', 'c'))
  expect(set.trusted).toBe(false)
  expect(['a', 'b', 'c', 'd'].map((tool) => says(set, tool))).toEqual(['allow', 'ask', 'deny', 'allow'])
  expect(['a', 'b', 'c', 'd'].map((tool) => says(trusted(set), tool))).toEqual([
    'allow',
    'deny',
    'deny',
    'deny',
  ])
})

test('an edit of an untrusted file removes no ask and no deny until a person trusts it', () => {
  const first = version(null, 'h1', rule('ask', 'b'), rule('deny', 'c'))
  const second = version(first, 'h2', rule('ask', 'd'))
  expect(['b', 'c', 'd'].map((tool) => says(second, tool))).toEqual(['ask', 'deny', 'ask'])
  const third = version(second, 'h3')
  expect(['b', 'c', 'd'].map((tool) => says(third, tool))).toEqual(['ask', 'deny', 'ask'])
  expect(['b', 'c', 'd'].map((tool) => says(trusted(third), tool))).toEqual(['allow', 'allow', 'allow'])
})

test('an edit of a trusted file neither opens it nor allows more, and what it denies counts at once', () => {
  const first = trusted(version(null, 'h1', rule('allow', 'a'), rule('allow', 'b')))
  const second = version(first, 'h2', rule('allow', 'a'), rule('allow', 'e'), rule('deny', 'b'))
  expect(second.trusted).toBe(false)
  expect(['a', 'b', 'e', 'x'].map((tool) => says(second, tool))).toEqual(['allow', 'deny', 'deny', 'deny'])
  expect(['a', 'b', 'e', 'x'].map((tool) => says(trusted(second), tool))).toEqual([
    'allow',
    'deny',
    'allow',
    'deny',
  ])
})

test('the version that a person trusted last is trusted when it comes back, an older one is not', () => {
  const loose = trusted(version(null, 'h1', rule('allow', 'a'), rule('allow', 'b')))
  const strict = trusted(version(loose, 'h2', rule('allow', 'a')))
  const rolledBack = version(strict, 'h1', rule('allow', 'a'), rule('allow', 'b'))
  expect(rolledBack.trusted).toBe(false)
  expect(says(rolledBack, 'b')).toBe('deny')
  const back = version(rolledBack, 'h2', rule('allow', 'a'))
  expect(back).toEqual(strict)
})

test('a trusted version without rules is trusted when it comes back', () => {
  const first = trusted(version(null, 'h1'))
  const back = version(version(first, 'h2', rule('ask', 'a')), 'h1')
  expect(back.trusted).toBe(true)
  expect(says(back, 'a')).toBe('allow')
})

test('of a file that is no longer trusted, only what it permits stops counting', () => {
  const open = trusted(version(null, 'h1', rule('ask', 'b'), rule('deny', 'c')))
  expect(['b', 'c', 'x'].map((tool) => says(untrusted(open), tool))).toEqual(['ask', 'deny', 'allow'])
  const closed = untrusted(trusted(version(null, 'h1', rule('allow', 'a'), rule('ask', 'b'))))
  expect(['a', 'b', 'x'].map((tool) => says(closed, tool))).toEqual(['deny', 'deny', 'deny'])
  expect(untrusted(closed)).toEqual(closed)
  expect(says(version(closed, 'h2', rule('allow', 'a')), 'a')).toBe('deny')
  expect(version(version(closed, 'h2'), 'h1', rule('allow', 'a')).trusted).toBe(false)
})

test('a file that is no longer trusted keeps what earlier versions denied and closed', () => {
  const first = version(null, 'h1', rule('deny', 'c'))
  expect(says(untrusted(version(first, 'h2')), 'c')).toBe('deny')
  const closed = trusted(version(null, 'h1', rule('allow', 'a'), rule('deny', 'c')))
  const changed = untrusted(version(closed, 'h2', rule('ask', 'd')))
  expect(['a', 'c', 'x'].map((tool) => says(changed, tool))).toEqual(['deny', 'deny', 'deny'])
})

test('the reviewer of an untrusted rule does not count: a person is asked', () => {
  const asking = (set: RuleSet) => {
    const need = parseNeed('execute tool:b')
    const ruling = ruleOnAll(setsIn(set), [], need === null ? [] : [need], FACTS)
    return ruling.type === 'ask' ? ruling.reviewer : ruling.type
  }
  const set = version(null, 'h1', rule('ask', 'b', { reviewer: 'tool:yes' }))
  expect(asking(set)).toBeNull()
  expect(asking(trusted(set))).toBe('tool:yes')
  expect(asking(untrusted(trusted(set)))).toBeNull()
  // What is kept beside a trusted version is not trusted with it.
  const strict = trusted(version(null, 'h0', rule('deny', 'x')))
  const between = version(strict, 'h1', rule('ask', 'b', { reviewer: 'tool:yes' }))
  expect(asking(version(between, 'h2'))).toBeNull()
})

test('equal rules of many versions are kept once, and their number is bounded', () => {
  let set: RuleSet | null = null
  for (let index = 0; index < 50; index++) set = version(set, `h${index}`, rule('ask', 'same'))
  expect(set?.kept?.rules).toHaveLength(1)
  const many = (from: number) => Array.from({ length: 900 }, (_, index) => rule('ask', `t${from + index}`))
  set = version(version(set, 'a', ...many(0)), 'b', ...many(900))
  set = version(set, 'c', ...many(1_800))
  const refused = withVersion(set, { subject: 'file:/w', path: '/w/p', hash: 'd', rules: [] })
  expect(refused).toMatchObject({ code: 'limit_exceeded' })
})

test('the paths of a workspace rule are absolute, whichever folder it is applied in', () => {
  const written: Rule = {
    ...rule('deny', 'x'),
    resource: 'fs:src/**',
    constraints: { paths: ['src/*.ts', '/etc/*'] },
  }
  expect(inWorkspace(written, '/w')).toMatchObject({
    resource: 'fs:/w/src/**',
    constraints: { paths: ['/w/src/*.ts', '/etc/*'] },
  })
  expect(inWorkspace({ ...written, resource: 'fs:**' }, '/w').resource).toBe('fs:/w/**')
  expect(inWorkspace({ ...written, resource: 'shell:./bin/x' }, '/w').resource).toBe('shell:/w/bin/x')
  expect(inWorkspace({ ...written, resource: 'shell:git' }, '/w').resource).toBe('shell:git')
  expect(inWorkspace({ ...written, resource: 'fs:/etc/**' }, '/w').resource).toBe('fs:/etc/**')
})

test('every folder above has its rules', () => {
  expect(foldersAbove('/')).toEqual(['/'])
  expect(foldersAbove('/a/b')).toEqual(['/', '/a', '/a/b'])
  expect(fileSubject('/', null)).toBe('file:/.reeve/policy.json')
})

test('the same folder on two machines has two subjects, and that of no machine binds on both', () => {
  expect(folderSubjects(['/w'], null)).toEqual(['workspace:/w', 'file:/w/.reeve/policy.json'])
  expect(folderSubjects(['/w'], 'm1')).toEqual([
    'workspace:/w',
    'workspace:m1:/w',
    'file:/w/.reeve/policy.json',
    'file:m1:/w/.reeve/policy.json',
  ])
  // A path may have a colon.
  expect(
    ['home', 'session:a:/b', 'workspace:/a:/b', 'workspace:m1:/a:/b', 'kept:m1:/w'].map(subjectText),
  ).toEqual([...['home', 'session:a:/b', 'workspace:/a:/b', 'workspace:/a:/b', 'kept:/w']])
  expect([
    subjectHere('file:m1:/w', 'm1'),
    subjectHere('file:m2:/w', 'm1'),
    subjectHere('home', null),
  ]).toEqual([...['file:/w', 'file:m2:/w', 'home']])
})
