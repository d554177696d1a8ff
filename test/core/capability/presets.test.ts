import { expect, test } from 'vitest'
import type { Need } from '../../../src/core/capability/need.ts'
import { PRESETS, presetRules } from '../../../src/core/capability/presets.ts'
import { parseResource, resourceText } from '../../../src/core/capability/resource.ts'
import { isRefusal } from '../../../src/core/refusal.ts'
import { command, file, ruleSet, rulingOf, tool } from './rules.ts'

function rulesOf(preset: string) {
  const rules = presetRules(preset)
  if (isRefusal(rules)) throw new Error(rules.message)
  return rules
}

const opaque = command('python x.py', { opaque: 'python runs any code' })
const model: Need = { right: 'execute', resource: { kind: 'model', path: 'acme/large' }, attributes: {} }
const secret: Need = { right: 'read', resource: { kind: 'secret', path: 'TOKEN' }, attributes: {} }
const approval: Need = { right: 'approve', resource: { kind: 'human', path: 'eve' }, attributes: {} }

test.for([
  ['observe', 'allow', 'deny', 'deny', 'deny', 'deny', 'deny', 'deny', 'deny'],
  ['ask', 'allow', 'ask', 'ask', 'ask', 'ask', 'ask', 'ask', 'ask'],
  ['edit', 'allow', 'allow', 'ask', 'ask', 'ask', 'ask', 'ask', 'ask'],
  ['full', 'allow', 'allow', 'allow', 'allow', 'allow', 'allow', 'allow', 'allow'],
] as const)('the preset %s', ([preset, read, write, outside, gitHook, shell, unclear, call, reveal]) => {
  const sets = [ruleSet('session:s', rulesOf(preset))]
  const type = (need: Need) => rulingOf(need, sets).type
  expect(type(file('read', 'src/a.ts'))).toBe(read)
  expect(type(model)).toBe('allow')
  expect(type(file('write', 'src/a.ts'))).toBe(write)
  expect(type(file('write', '/etc/hosts'))).toBe(outside)
  expect(type(file('write', '.git/hooks/pre-commit'))).toBe(gitHook)
  expect(type(command('ls'))).toBe(shell)
  expect(type(opaque)).toBe(unclear)
  expect(type(tool('deploy'))).toBe(call)
  expect(type(secret)).toBe(reveal)
  expect(type(approval)).toBe('deny')
})

test('the rules of presets have ids of their own, name their preset, and are in stored form', () => {
  for (const preset of PRESETS) {
    const rules = rulesOf(preset)
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length)
    for (const { preset: name, resource } of rules) {
      expect(name).toBe(preset)
      const pattern = parseResource(resource)
      expect(isRefusal(pattern) ? pattern.message : resourceText(pattern)).toBe(
        resource.replace('net:**', 'net:*').replace('process:**', 'process:*/tree'),
      )
    }
  }
})

test('a preset that needs a sandbox is not available, and an unknown one is refused', () => {
  expect(presetRules('sandboxed')).toMatchObject({ code: 'not_available' })
  expect(presetRules('observ')).toMatchObject({
    code: 'invalid_rule',
    message: 'There is no preset "observ". Did you mean observe?',
  })
})
