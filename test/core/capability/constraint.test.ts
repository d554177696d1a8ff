import { expect, test } from 'vitest'
import type { Need } from '../../../src/core/capability/need.ts'
import type { Rule } from '../../../src/core/capability/rule.ts'
import { allow, ask, command, deny, effectOf, file, NOON, ruleSet, rulingOf, tool } from './rules.ts'

test.for([
  ['git push', true],
  ['git push origin main', true],
  ['git pushx', false],
  ['git status', false],
  ['git', false],
  ['git $', true],
  ['git $ origin', true],
  ['git push $', true],
] as const)('a deny of git push is about "%s": %s', ([line, expected]) => {
  expect(effectOf(command(line), deny('shell:git push'))).toBe(expected ? 'deny' : 'allow')
})

test.for([
  ['git push', true],
  ['git push origin', true],
  ['git push $', true],
  ['git $', false],
  ['git status', false],
] as const)('an allow of git push covers "%s": %s', ([line, expected]) => {
  expect(effectOf(command(line), allow('shell:git push'))).toBe(expected ? 'allow' : 'deny')
})

test('an argument that is not literal may be several words, so nothing after it is compared', () => {
  expect(effectOf(command('git $ origin'), deny('shell:git remote add'))).toBe('deny')
  expect(effectOf(command('git $'), deny('shell:git remote add'))).toBe('deny')
  expect(effectOf(command('git status $'), deny('shell:git remote add'))).toBe('allow')
})

test('a token may be a choice', () => {
  const rule = deny('shell:npm', { constraints: { args: [['publish', 'unpublish']] } })
  expect(effectOf(command('npm publish'), rule)).toBe('deny')
  expect(effectOf(command('npm unpublish'), rule)).toBe('deny')
  expect(effectOf(command('npm test'), rule)).toBe('allow')
})

test('an unknown option before the subcommand counts for every ask and deny of the program, and for no allow with arguments', () => {
  const unclear = command('git --new-option status', { unknownOption: true })
  expect(effectOf(unclear, ask('shell:git push'))).toBe('ask')
  expect(effectOf(unclear, deny('shell:git push'))).toBe('deny')
  expect(effectOf(unclear, deny('shell:npm publish'))).toBe('allow')
  expect(effectOf(unclear, allow('shell:git status'))).toBe('deny')
  expect(effectOf(unclear, allow('shell:git'))).toBe('allow')
})

test('a program that is written as a path meets the denies of its name, and no allow of it', () => {
  expect(effectOf(command('/usr/bin/git push'), deny('shell:git push'))).toBe('deny')
  expect(effectOf(command('./git status'), allow('shell:git status'))).toBe('deny')
})

test('a link to a program meets the denies of its file', () => {
  const link: Need = {
    ...command('g push'),
    resource: { kind: 'shell', program: { name: 'g', real: '/usr/bin/git' } },
  }
  expect(effectOf(link, deny('shell:git push'))).toBe('deny')
  expect(effectOf(link, deny('shell:/usr/bin/git', { constraints: { args: ['push'] } }))).toBe('deny')
})

test('globs select files by segment', () => {
  const rule = allow('fs:**', { rights: ['write'], constraints: { paths: ['src/**/*.ts', 'docs/**'] } })
  expect(effectOf(file('write', 'src/a.ts'), rule)).toBe('allow')
  expect(effectOf(file('write', 'src/a/b/c.test.ts'), rule)).toBe('allow')
  expect(effectOf(file('write', 'src/a.tsx'), rule)).toBe('deny')
  expect(effectOf(file('write', 'src2/a.ts'), rule)).toBe('deny')
  expect(effectOf(file('write', 'docs'), rule)).toBe('allow')
  expect(effectOf(file('write', 'docs/a/b'), rule)).toBe('allow')
  expect(effectOf(file('write', null), rule)).toBe('deny')
})

test('a deny of files counts if one of the touched files is among them, an allow if all are', () => {
  const call = tool('patch', { paths: ['src/a.ts', '.env'] })
  expect(effectOf(call, deny('tool:patch', { constraints: { paths: ['.env'] } }))).toBe('deny')
  expect(effectOf(call, deny('tool:patch', { constraints: { paths: ['x'] } }))).toBe('allow')
  expect(effectOf(call, allow('tool:patch', { constraints: { paths: ['src/**'] } }))).toBe('deny')
  expect(effectOf(call, allow('tool:patch', { constraints: { paths: ['src/**', '.env'] } }))).toBe('allow')
})

test('an allow holds up to its number of bytes', () => {
  const rule = allow('fs:**', { rights: ['write'], constraints: { maxBytes: 100 } })
  expect(effectOf(file('write', 'a', { bytes: 100 }), rule)).toBe('allow')
  expect(effectOf(file('write', 'a', { bytes: 101 }), rule)).toBe('deny')
  expect(effectOf(file('write', 'a'), rule)).toBe('deny')
})

test('methods and hosts of a web tool are compared', () => {
  const rule = allow('tool:web', { constraints: { methods: ['GET'], hosts: ['*.example.com', 'localhost'] } })
  expect(effectOf(tool('web', { method: 'get', host: 'api.example.com' }), rule)).toBe('allow')
  expect(effectOf(tool('web', { method: 'GET', host: 'LOCALHOST' }), rule)).toBe('allow')
  expect(effectOf(tool('web', { method: 'POST', host: 'api.example.com' }), rule)).toBe('deny')
  expect(effectOf(tool('web', { method: 'GET', host: 'example.org' }), rule)).toBe('deny')
  expect(effectOf(tool('web'), rule)).toBe('deny')
})

test('what is not known of a need counts for a deny with a constraint', () => {
  expect(effectOf(tool('web'), deny('tool:web', { constraints: { methods: ['POST'] } }))).toBe('deny')
})

test('an allow with a list of variables holds while no others are set', () => {
  const setting = (...env: string[]) => command('git status', { env })
  const only = (...env: string[]) => allow('shell:git status', { constraints: { env } })
  expect(effectOf(setting('CI'), allow('shell:git status'))).toBe('allow')
  expect(effectOf(setting('CI'), only('CI', 'DEBUG'))).toBe('allow')
  expect(effectOf(setting('CI', 'FOO'), only('CI'))).toBe('deny')
  expect(effectOf(setting('CI'), only())).toBe('deny')
  expect(effectOf(setting(), only())).toBe('allow')
})

test('variables do not lead past a deny or an ask', () => {
  expect(effectOf(command('git push', { env: ['CI'] }), deny('shell:git push'))).toBe('deny')
  expect(effectOf(command('git push', { env: ['CI'] }), ask('shell:git push'))).toBe('ask')
})

test.for([
  ['inside', { from: '09:00', to: '17:00' }, true],
  ['before', { from: '12:01', to: '17:00' }, false],
  ['the end is not inside', { from: '09:00', to: '12:00' }, false],
  ['the beginning is', { from: '12:00', to: '12:01' }, true],
  ['until midnight', { from: '12:00', to: '24:00' }, true],
  ['over midnight', { from: '22:00', to: '12:01' }, true],
  ['on this day', { from: '09:00', to: '17:00', days: ['mon'] }, true],
  ['on another day', { from: '09:00', to: '17:00', days: ['tue', 'sun'] }, false],
  ['begun on the day before', { from: '22:00', to: '13:00', days: ['sun'] }, true],
  ['begins today only later', { from: '22:00', to: '13:00', days: ['mon'] }, false],
  ['in another time zone', { from: '14:00', to: '15:00', utcOffset: '+02:00' }, true],
  ['in a zone behind', { from: '06:30', to: '07:00', utcOffset: '-05:30' }, true],
] as const)('a time window counts by the passed time: %s', ([, hours, expected]) => {
  const rule = allow('tool:deploy', { constraints: { hours } })
  expect(effectOf(tool('deploy'), rule)).toBe(expected ? 'allow' : 'deny')
  expect(effectOf(tool('deploy'), deny('tool:deploy', { constraints: { hours } }))).toBe(
    expected ? 'deny' : 'allow',
  )
})

/** A rule as a newer version may have stored it. */
function withUnknownConstraint(rule: Rule): Rule {
  const constraints = { ...rule.constraints, phaseOfMoon: 'full' }
  return { ...rule, constraints }
}

test('an unknown constraint fails closed: the allow never counts, the ask and the deny always do', () => {
  expect(effectOf(tool('a'), withUnknownConstraint(allow('tool:a')))).toBe('deny')
  expect(effectOf(tool('a'), withUnknownConstraint(ask('tool:a')))).toBe('ask')
  expect(effectOf(tool('a'), withUnknownConstraint(deny('tool:a')))).toBe('deny')
  expect(effectOf(tool('b'), withUnknownConstraint(deny('tool:a')))).toBe('allow')
  const requestable = withUnknownConstraint(ask('tool:a', { requestable: true }))
  expect(effectOf(tool('a'), requestable, allow('tool:x'))).toBe('deny')
})

test('a stored constraint of an unknown shape fails closed, too', () => {
  const stored = { ...deny('tool:a'), constraints: { hours: { from: 'dawn', to: 'dusk' } } }
  expect(effectOf(tool('a'), stored)).toBe('deny')
  expect(effectOf(tool('a'), { ...stored, effect: 'allow' })).toBe('deny')
})

test('a stored resource that this version cannot read fails closed within its kind', () => {
  const stored = { ...deny('tool:a'), resource: 'tool:a/**/b' }
  expect(effectOf(tool('x'), stored)).toBe('deny')
  expect(effectOf(file('read', 'x'), stored)).toBe('allow')
  expect(effectOf(tool('x'), { ...stored, effect: 'allow' })).toBe('deny')
  expect(effectOf(tool('x'), { ...stored, resource: 'planet:mars' })).toBe('allow')
})

test('a rule with hosts counts on these; if the host is not known, only asks and denies do', () => {
  const sets = (effect: 'allow' | 'deny') => [
    ruleSet('home', [
      effect === 'allow' ? allow('tool:a', { hosts: ['laptop'] }) : deny('tool:a', { hosts: ['laptop'] }),
    ]),
  ]
  const on = (host: string | null) => ({ host, at: NOON })
  expect(rulingOf(tool('a'), sets('allow'), [], on('laptop')).type).toBe('allow')
  expect(rulingOf(tool('a'), sets('allow'), [], on('server')).type).toBe('deny')
  expect(rulingOf(tool('a'), sets('allow'), [], on(null)).type).toBe('deny')
  expect(rulingOf(tool('a'), sets('deny'), [], on('laptop')).type).toBe('deny')
  expect(rulingOf(tool('a'), sets('deny'), [], on('server')).type).toBe('allow')
  expect(rulingOf(tool('a'), sets('deny'), [], on(null)).type).toBe('deny')
})
