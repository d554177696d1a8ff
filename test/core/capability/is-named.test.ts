import { expect, test } from 'vitest'
import { isNamed } from '../../../src/core/capability/is-named.ts'
import type { Need } from '../../../src/core/capability/need.ts'
import type { Rule } from '../../../src/core/capability/rule.ts'

const WHEN = { at: 1_000, host: null }
const net: Need = { right: 'read', resource: { kind: 'net', host: '127.0.0.1', port: 80 }, attributes: {} }
const file: Need = {
  right: 'read',
  resource: { kind: 'fs', path: '/etc/hosts', workspace: '/work' },
  attributes: {},
}

function rule(resource: string, more: Partial<Rule> = {}): Rule {
  return { id: 'r1', effect: 'allow', rights: ['read'], resource, ...more }
}

test.each([
  ['the address', net, rule('net:127.0.0.1'), true],
  ['the address and its port', net, rule('net:127.0.0.1:80'), true],
  ['another port', net, rule('net:127.0.0.1:81'), false],
  ['all hosts', net, rule('net:**'), false],
  ['the folder of the file', file, rule('fs:/etc/**'), true],
  ['all files', file, rule('fs:/**'), false],
  ['files of the workspace', file, rule('fs:**'), false],
  ['another right', file, rule('fs:/etc/hosts', { rights: ['write'] }), false],
  ['an ask', file, rule('fs:/etc/hosts', { effect: 'ask' }), false],
  ['an expired allow', file, rule('fs:/etc/hosts', { expiresAt: 999 }), false],
])('a rule for %s', (_, need, given, named) => {
  expect(isNamed([{ rules: [given], trusted: true }], need, WHEN)).toBe(named)
})

test('an allow of a file that no person trusts names nothing', () => {
  expect(isNamed([{ rules: [rule('net:127.0.0.1')], trusted: false }], net, WHEN)).toBe(false)
})
