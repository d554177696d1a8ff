import { expect, test } from 'vitest'
import { decideDelegation } from '../../../src/core/capability/delegate.ts'
import { decideRevocation } from '../../../src/core/capability/revoke.ts'
import type { Rule } from '../../../src/core/capability/rule.ts'
import { countedRulesOf, delegatorsOf } from '../../../src/core/capability/rule-on.ts'
import type { RuleSet } from '../../../src/core/capability/rule-set.ts'
import { allow, ask, command, deny, factsAt, file, NOON, ruleSet, rulingOf, tool } from './rules.ts'

const HELD = {
  id: 'held',
  rights: ['read', 'write'],
  constraints: { paths: ['src/**'], maxBytes: 100 },
  expiresAt: NOON + 1000,
  uses: 5,
  delegable: { depth: 3 },
} as const

function delegated(held: RuleSet, asked: Rule): Rule {
  const decision = decideDelegation(held, asked, NOON)
  if (decision.type === 'refuse') throw new Error(decision.refusal.message)
  return decision.rule
}

test('a narrower part of a delegable allow can be delegated, with its chain', () => {
  const held = ruleSet('session:s', [allow('fs:**', HELD)])
  const asked = allow('fs:src/**', {
    id: 'part',
    rights: ['read'],
    constraints: { paths: ['src/*.ts'], maxBytes: 50, hours: { from: '09:00', to: '17:00' } },
    delegable: { depth: 2 },
  })
  expect(decideDelegation(held, asked, NOON)).toEqual({
    type: 'delegate',
    rule: {
      ...asked,
      // Limits of time and number that it leaves out are those of what is held.
      expiresAt: NOON + 1000,
      uses: 5,
      delegatedFrom: [{ subject: 'session:s', rule: 'held' }],
    },
  })
})

test('a delegated rule gives no right that the held one has not', () => {
  const held = ruleSet('session:s', [allow('fs:**', { ...HELD, rights: ['read'] })])
  const { delegable: _, ...narrow } = HELD
  const asked = allow('fs:**', { ...narrow, id: 'part', rights: ['write'] })
  expect(decideDelegation(held, asked, NOON)).toMatchObject({
    type: 'refuse',
    refusal: { code: 'denied', message: expect.stringContaining('does not hold the right write') },
  })
})

test.for([
  ['resource', { resource: 'fs:/**' }, 'no allow of this resource'],
  ['a constraint left out', { constraints: { paths: ['src/**'] } }, 'constraint maxBytes'],
  [
    'a wider constraint',
    { constraints: { paths: ['src/**', 'docs/**'], maxBytes: 100 } },
    'constraint paths',
  ],
  ['more bytes', { constraints: { paths: ['src/**'], maxBytes: 101 } }, 'constraint maxBytes'],
  ['expiry', { expiresAt: NOON + 1001 }, 'expire later'],
  ['uses', { uses: 6 }, 'more uses'],
  ['depth', { delegable: { depth: 3 } }, 'may be passed on 2 times more'],
  ['permanence', { revocable: false }, 'can be revoked'],
] as const)('a delegated rule is never wider: %s', ([, wider, why]) => {
  const held = ruleSet('session:s', [allow('fs:**', HELD)])
  const { delegable: _, ...narrow } = HELD
  const asked = allow('fs:**', {
    ...narrow,
    id: 'part',
    ...wider,
    resource: 'resource' in wider ? wider.resource : 'fs:**',
  })
  expect(decideDelegation(held, asked, NOON)).toMatchObject({
    type: 'refuse',
    refusal: { code: 'denied', message: expect.stringContaining(why) },
  })
})

test.for([
  ['args', allow('shell:git push', { delegable: { depth: 1 } }), allow('shell:git')],
  [
    'args',
    allow('shell:git push', { delegable: { depth: 1 } }),
    allow('shell:git', { constraints: { args: [['push', 'fetch']] } }),
  ],
  ['hosts', allow('tool:a', { hosts: ['laptop'], delegable: { depth: 1 } }), allow('tool:a')],
  [
    'variables',
    allow('shell:git', { constraints: { env: ['CI'] }, delegable: { depth: 1 } }),
    allow('shell:git', { constraints: { env: ['CI', 'DEBUG'] } }),
  ],
  [
    'hours',
    allow('tool:a', { constraints: { hours: { from: '09:00', to: '17:00' } }, delegable: { depth: 1 } }),
    allow('tool:a', { constraints: { hours: { from: '09:00', to: '17:00', utcOffset: '+01:00' } } }),
  ],
  ['the whole shell', allow('shell:sh build.sh', { delegable: { depth: 1 } }), allow('shell:sh')],
  ['a script from any name', allow('shell:*', { delegable: { depth: 1 } }), allow('shell:sh build.sh')],
  ['the whole shell from any name', allow('shell:*', { delegable: { depth: 1 } }), allow('shell:sh')],
  [
    'another program',
    allow('shell:sh build.sh', { delegable: { depth: 1 } }),
    allow('shell:python build.sh'),
  ],
] as const)('a delegated rule is never wider in %s', ([, held, asked]) => {
  expect(decideDelegation(ruleSet('session:s', [held]), asked, NOON).type).toBe('refuse')
})

test('a holder of the whole shell may delegate any program', () => {
  const held = ruleSet('session:s', [allow('shell:sh', { delegable: { depth: 1 } })])
  expect(decideDelegation(held, allow('shell:git'), NOON).type).toBe('delegate')
})

test.for([
  ['an allow that is not delegable', [allow('tool:a')], 'not delegable'],
  ['an ask', [ask('tool:a')], 'no allow of this resource'],
  ['an expired allow', [allow('tool:a', { delegable: { depth: 1 }, expiresAt: NOON })], 'has expired'],
  ['nothing, in an open set', [], 'no allow of this resource'],
  [
    "a person's answer",
    [{ ...allow('tool:a', { delegable: { depth: 1 } }), settles: [{ subject: 'home', rule: 'x' }] }],
    'an answer to one of its own requests',
  ],
] as const)('%s cannot be delegated', ([, rules, why]) => {
  expect(decideDelegation(ruleSet('session:s', rules), allow('tool:a'), NOON)).toMatchObject({
    type: 'refuse',
    refusal: { message: expect.stringContaining(why) },
  })
})

test('only an allow can be delegated, and none of an untrusted file', () => {
  const rules = [allow('tool:a', { delegable: { depth: 1 } })]
  expect(decideDelegation(ruleSet('session:s', rules), ask('tool:a'), NOON).type).toBe('refuse')
  const untrusted = ruleSet('workspace:/w', rules, { trusted: false })
  expect(decideDelegation(untrusted, allow('tool:a'), NOON).type).toBe('refuse')
})

/** A session that delegates to a process, which delegates to its child, which delegates to the next. */
function family() {
  const session = ruleSet('session:s', [
    allow('fs:**', { id: 'root', rights: ['write'], delegable: { depth: 3 } }),
  ])
  const parent = ruleSet('process:p_1', [
    delegated(session, allow('fs:src/**', { id: 'first', rights: ['write'], delegable: { depth: 2 } })),
  ])
  const child = ruleSet('process:p_2', [
    delegated(parent, allow('fs:src/a/**', { id: 'second', rights: ['write'], delegable: { depth: 1 } })),
  ])
  const grandchild = ruleSet('process:p_3', [
    delegated(child, allow('fs:src/a/**', { id: 'third', rights: ['write'] })),
  ])
  return { session, parent, child, grandchild }
}

const rowsOf = (...sets: readonly RuleSet[]) => ({
  delegators: new Map(sets.map((set) => [set.subject, set])),
})

const write = file('write', 'src/a/b.ts')

test('a delegated rule counts while every rule of its chain does', () => {
  const { session, parent, child, grandchild } = family()
  expect(grandchild.rules[0]?.delegatedFrom).toEqual([
    { subject: 'session:s', rule: 'root' },
    { subject: 'process:p_1', rule: 'first' },
    { subject: 'process:p_2', rule: 'second' },
  ])
  expect(delegatorsOf([grandchild])).toEqual(['session:s', 'process:p_1', 'process:p_2'])
  expect(rulingOf(write, [grandchild], [], rowsOf(session, parent, child))).toMatchObject({
    type: 'allow',
    rule: { subject: 'process:p_3', id: 'third' },
  })
})

test('a chain ends where its depth does', () => {
  const { grandchild } = family()
  expect(decideDelegation(grandchild, allow('fs:src/a/b.ts', { rights: ['write'] }), NOON).type).toBe(
    'refuse',
  )
})

test.for(['session', 'parent', 'child'] as const)(
  'a revoked link counts no more, also for a grandchild: the rule of the %s',
  (revoker) => {
    const sets = family()
    const id = sets[revoker].rules[0]?.id ?? ''
    const revoked = decideRevocation(sets[revoker], id)
    if (revoked.type !== 'revoke') throw new Error(revoked.refusal.message)
    const links = [sets.session, sets.parent, sets.child].map((set) =>
      set === sets[revoker] ? revoked.ruleSet : set,
    )
    expect(rulingOf(write, [sets.grandchild], [], rowsOf(...links)).type).toBe('deny')
  },
)

test('a delegated rule counts no more when the set of a link is gone', () => {
  const { session, parent, grandchild } = family()
  expect(rulingOf(write, [grandchild], [], rowsOf(session, parent)).type).toBe('deny')
})

test('a delegated rule is bound by a link that was narrowed or expired meanwhile', () => {
  const { session, parent, child, grandchild } = family()
  const narrowed = ruleSet('process:p_1', [allow('fs:src/a/x/**', { id: 'first', rights: ['write'] })])
  expect(rulingOf(write, [grandchild], [], rowsOf(session, narrowed, child)).type).toBe('deny')
  const expiring = ruleSet('session:s', [{ ...session.rules[0]!, expiresAt: NOON + 5 }])
  const rows = rowsOf(expiring, parent, child)
  expect(rulingOf(write, [grandchild], [], { ...rows, at: NOON + 4 }).type).toBe('allow')
  expect(rulingOf(write, [grandchild], [], { ...rows, at: NOON + 5 }).type).toBe('deny')
})

test('denies and asks that are added later to the set of a delegator bind the delegate', () => {
  const { session, parent, child, grandchild } = family()
  const denying = ruleSet('process:p_1', [...parent.rules, deny('fs:src/a/b.ts')])
  expect(rulingOf(write, [grandchild], [], rowsOf(session, denying, child))).toMatchObject({
    type: 'deny',
    rule: { subject: 'process:p_1' },
  })
  const asking = ruleSet('session:s', [...session.rules, ask('fs:src/**')])
  expect(rulingOf(write, [grandchild], [], rowsOf(asking, parent, child))).toMatchObject({
    type: 'ask',
    rule: { subject: 'session:s' },
  })
})

test('a deny of a delegator binds the delegate also in what others allowed it', () => {
  const { session, parent, child, grandchild } = family()
  const more = ruleSet('process:p_3', [...grandchild.rules, allow('tool:deploy')])
  const rows = rowsOf(session, ruleSet('process:p_1', [...parent.rules, deny('tool:deploy')]), child)
  expect(rulingOf(tool('deploy'), [more], [], rowsOf(session, parent, child)).type).toBe('allow')
  expect(rulingOf(tool('deploy'), [more], [], rows).type).toBe('deny')
})

test('what cannot be analysed asks the delegate if it asks the delegator', () => {
  const giver = ruleSet('session:s', [allow('tool:a', { delegable: { depth: 1 } }), ask('shell:git push')])
  const receiver = ruleSet('process:p_1', [delegated(giver, allow('tool:a')), allow('shell:sh')])
  const opaque = command('python x.py', { opaque: 'python runs any code' })
  expect(rulingOf(opaque, [receiver], [], rowsOf(giver)).type).toBe('ask')
})

test('the uses of a delegate are uses of what it was delegated from', () => {
  const giver = ruleSet('session:s', [allow('tool:*', { id: 'five', uses: 5, delegable: { depth: 1 } })])
  const receiver = ruleSet('process:p_1', [delegated(giver, allow('tool:a', { id: 'two', uses: 2 }))])
  const used = (five: number, two: number) => ({
    ...rowsOf(giver),
    used: new Map([
      ['session:s five', five],
      ['process:p_1 two', two],
    ]),
  })
  expect(rulingOf(tool('a'), [receiver], [], used(4, 1))).toMatchObject({
    type: 'allow',
    uses: [
      { subject: 'process:p_1', id: 'two' },
      { subject: 'session:s', id: 'five' },
    ],
  })
  expect(rulingOf(tool('a'), [receiver], [], used(5, 1)).type).toBe('deny')
  expect(rulingOf(tool('a'), [receiver], [], used(4, 2)).type).toBe('deny')
  expect(
    countedRulesOf([receiver], [], [tool('a')], factsAt(NOON, rowsOf(giver))).map(({ id }) => id),
  ).toEqual(['two', 'five'])
})
