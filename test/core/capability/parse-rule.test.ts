import { expect, test } from 'vitest'
import { parseRule } from '../../../src/core/capability/parse-rule.ts'
import { RIGHTS } from '../../../src/core/capability/right.ts'
import { ruleText } from '../../../src/core/capability/rule.ts'
import type { Json } from '../../../src/core/json/json.ts'
import { allow, ask, deny, NOON } from './rules.ts'

test('one line is a rule: ask before git push', () => {
  expect(parseRule({ effect: 'ask', resource: 'shell:git push' }, 'r1')).toEqual({
    id: 'r1',
    effect: 'ask',
    rights: ['execute'],
    resource: 'shell:git',
    constraints: { args: ['push'] },
  })
})

test('an allow that names no rights gives only the default right; a deny takes all', () => {
  expect(allow('fs:src/**').rights).toEqual(['read'])
  expect(deny('fs:.env').rights).toEqual(RIGHTS)
  expect(ask('fs:.env').rights).toEqual(RIGHTS)
  expect(deny('tool:deploy').rights).toEqual(['execute'])
})

test('a rule keeps its own id', () => {
  expect(parseRule({ id: 'no-push', effect: 'deny', resource: 'shell:git push' }, 'r1')).toMatchObject({
    id: 'no-push',
  })
})

test.for<readonly [Json, string]>([
  ['ask', 'must be an object'],
  [{ resource: 'fs:a' }, 'needs effect'],
  [{ effect: 'ask' }, 'needs resource'],
  [{ effect: 'permit', resource: 'fs:a' }, 'effect of a rule must be allow, ask, deny'],
  [{ effect: 'ask', resource: '*' }, 'would cover everything'],
  [{ effect: 'ask', resource: 'fs:a', right: ['read'] }, 'no field "right". Did you mean rights?'],
  [{ effect: 'ask', resource: 'fs:a', constructor: 1 }, 'no field "constructor"'],
  [{ effect: 'allow', resource: 'fs:a', rights: ['reed'] }, 'no right "reed". Did you mean read?'],
  [{ effect: 'allow', resource: 'fs:a', rights: [] }, 'rights of a rule must be a list'],
  [
    { effect: 'allow', resource: 'fs:a', rights: ['read', 'delete'] },
    'Nothing needs the right delete to fs:',
  ],
  [{ effect: 'deny', resource: 'model:a/b', rights: ['read'] }, 'Nothing needs the right read to model:'],
  [{ effect: 'allow', resource: 'process:p_a' }, 'An allow of process:… has to name its rights'],
  [{ effect: 'ask', resource: 'session:s', rights: ['signal'] }, 'A rule cannot ask about session:'],
  [{ effect: 'deny', resource: 'checkpoint:a' }, 'a rule about checkpoint:a would never count'],
  [
    { effect: 'allow', resource: 'fs:a', constraints: { maxByte: 1 } },
    'no constraint "maxByte". Did you mean',
  ],
  [
    { effect: 'allow', resource: 'fs:a', constraints: { args: ['x'] } },
    'args does not apply to resources of kind fs',
  ],
  [
    { effect: 'allow', resource: 'shell:a', constraints: { paths: ['x'] } },
    'paths does not apply to resources of kind shell',
  ],
  [
    { effect: 'allow', resource: 'mcp:s/t', constraints: { paths: ['x'] } },
    'paths does not apply to resources of kind mcp',
  ],
  [
    { effect: 'allow', resource: 'net:a', constraints: { maxBytes: 1 } },
    'maxBytes does not apply to resources of kind net',
  ],
  [{ effect: 'allow', resource: 'shell:a', constraints: { args: [[]] } }, 'The constraint args: it must be'],
  [{ effect: 'allow', resource: 'fs:**', constraints: { paths: ['{a,b}'] } }, 'wildcard other than * and **'],
  [{ effect: 'allow', resource: 'net:*', constraints: { methods: ['get'] } }, '"get" is no method'],
  [{ effect: 'allow', resource: 'net:*', constraints: { hosts: ['a b'] } }, '"a b" is no host name'],
  [{ effect: 'allow', resource: 'shell:a', constraints: { env: ['A-B'] } }, '"A-B" is no name of a variable'],
  [{ effect: 'allow', resource: 'fs:a', constraints: { maxBytes: -1 } }, 'whole number of bytes'],
  [
    { effect: 'deny', resource: 'fs:a', constraints: { hours: { from: '9', to: '17:00' } } },
    'from must be a time',
  ],
  [
    { effect: 'deny', resource: 'fs:a', constraints: { hours: { from: '09:00', to: '09:00' } } },
    'must differ',
  ],
  [
    { effect: 'deny', resource: 'fs:a', constraints: { hours: { from: '09:00', to: '17:00', zone: 'CET' } } },
    'hours',
  ],
  [{ effect: 'deny', resource: 'fs:a', constraints: { maxBytes: 5 } }, 'would be evaded by exceeding it'],
  [{ effect: 'ask', resource: 'shell:git', constraints: { env: ['CI'] } }, 'would be evaded by exceeding it'],
  [
    { effect: 'allow', resource: 'fs:a', requestable: true },
    'requestable does not apply to a rule that is an allow',
  ],
  [{ effect: 'deny', resource: 'fs:a', reviewer: 'r' }, 'reviewer does not apply to a rule that is a deny'],
  [{ effect: 'ask', resource: 'fs:a', uses: 3 }, 'uses does not apply to a rule that is an ask'],
  [{ effect: 'allow', resource: 'fs:a', uses: 0 }, 'uses of a rule must be a number from 1 on'],
  [{ effect: 'allow', resource: 'fs:a', delegable: true }, 'delegable of a rule must be { depth }'],
  [{ effect: 'allow', resource: 'fs:a', delegatedFrom: [] }, 'no field "delegatedFrom"'],
  [{ effect: 'allow', resource: 'fs:a', settles: [] }, 'no field "settles"'],
  [{ effect: 'allow', resource: 'fs:a', preset: 'full' }, 'no field "preset"'],
  [{ effect: 'ask', resource: 'shell:/opt/my tool' }, 'does not say clearly which part is the program'],
  [{ effect: 'ask', resource: 'shell:git push *' }, 'does not say clearly which part is the program'],
])('%j is refused', ([json, message]) => {
  expect(parseRule(json, 'r1')).toMatchObject({
    code: 'invalid_rule',
    message: expect.stringContaining(message),
  })
})

test('a program whose path has a blank is named with its arguments apart', () => {
  expect(ask('shell:/opt/my tool/run', { constraints: { args: [] } })).toMatchObject({
    resource: 'shell:/opt/my tool/run',
    constraints: { args: [] },
  })
})

test('a rule is shown in one line', () => {
  expect(ruleText(ask('shell:git push', { justification: 'It is\npublic.' }))).toBe(
    'ask  execute shell:git push  "It is\\npublic."',
  )
  expect(ruleText(deny('fs:.env'))).toBe('deny  any right to fs:.env')
  expect(ruleText(ask('tool:deploy', { requestable: true, reviewer: 'ops' }))).toBe(
    'ask (requestable)  execute tool:deploy  reviewer ops',
  )
  expect(
    ruleText(
      allow('shell:npm', {
        constraints: {
          args: [['test', 'run'], 'a b'],
          env: [],
          hours: { from: '09:00', to: '17:00', days: ['mon'], utcOffset: '+02:00' },
        },
        expiresAt: NOON,
        uses: 3,
        delegable: { depth: 2 },
        hosts: ['laptop'],
        revocable: false,
      }),
    ),
  ).toBe(
    'allow  execute shell:npm {test,run} "a b"  no variables; 09:00-17:00 mon +02:00; on laptop; ' +
      'until 2026-11-16T12:00:00.000Z; 3 uses; delegable 2 deep; not revocable',
  )
  expect(ruleText(allow('net:*', { constraints: { methods: ['GET'], hosts: ['*.dev'] } }))).toBe(
    'allow  read net:*  GET; hosts *.dev',
  )
  expect(ruleText(allow('fs:a', { constraints: { maxBytes: 9 } }))).toBe('allow  read fs:a  at most 9 bytes')
})
