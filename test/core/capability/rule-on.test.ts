import { expect, test } from 'vitest'
import { type Ceiling, ceilingsOf } from '../../../src/core/capability/ceiling.ts'
import { doubtOf } from '../../../src/core/capability/doubt.ts'
import { type Need, NO_ATTRIBUTES } from '../../../src/core/capability/need.ts'
import { decideRevocation } from '../../../src/core/capability/revoke.ts'
import type { Rule } from '../../../src/core/capability/rule.ts'
import { countedRulesOf, ruleOn, ruleOnAll, steadyRuling } from '../../../src/core/capability/rule-on.ts'
import { type RuleSet, withRules } from '../../../src/core/capability/rule-set.ts'
import { useIdOf } from '../../../src/core/capability/ruling.ts'
import { allow, ask, command, deny, effectOf, factsAt, file, NOON, ruleSet, rulingOf, tool } from './rules.ts'

test('without rules everything stays allowed, by no rule', () => {
  expect(rulingOf(tool('a'), [])).toEqual({ type: 'allow', rule: null, uses: [] })
  expect(rulingOf(tool('a'), [ruleSet('session:s', [])])).toEqual({ type: 'allow', rule: null, uses: [] })
})

test.each([
  ['a time', { expiresAt: NOON + 1 }],
  ['hosts', { hosts: ['here'] }],
  ['uses', { uses: 1 }],
  ['hours', { constraints: { hours: { from: '08:00', to: '18:00' } } }],
  ['an exact action', { constraints: { action: ['a'.repeat(64)] } }],
])('a rule with %s depends on more than the need', (_limit, more) => {
  const sets = (limited: Rule) => [ruleSet('session:s', [allow('tool:b'), limited])]
  expect(steadyRuling(sets(allow('tool:a')), [], [tool('b')], factsAt(NOON))).toMatchObject({ type: 'allow' })
  const limited = { ...allow('tool:a'), ...more } as Rule
  expect(steadyRuling(sets(limited), [], [tool('b')], factsAt(NOON))).toBeUndefined()
})

test('a deny beats a narrower allow', () => {
  const narrow = allow('fs:src/a.ts', { rights: ['write'] })
  expect(effectOf(file('write', 'src/a.ts'), narrow, deny('fs:**'))).toBe('deny')
  expect(effectOf(file('write', 'src/a.ts'), deny('fs:**'), narrow)).toBe('deny')
})

test('a deny beats an ask, an ask of a person that of a reviewer, and that an allow', () => {
  const reviewed = ask('tool:a', { id: 'reviewed', reviewer: 'auditor', justification: 'Look.' })
  const rules = [allow('tool:a'), reviewed]
  expect(rulingOf(tool('a'), [ruleSet('session:s', rules)])).toEqual({
    type: 'ask',
    rule: { subject: 'session:s', id: 'reviewed', text: 'ask  execute tool:a  reviewer auditor  "Look."' },
    reviewer: 'auditor',
    answerWithinMs: null,
    justification: 'Look.',
    uses: [],
  })
  expect(rulingOf(tool('a'), [ruleSet('session:s', [...rules, ask('tool:a')])])).toMatchObject({
    type: 'ask',
    reviewer: null,
  })
  expect(effectOf(tool('a'), ...rules, ask('tool:a'), deny('tool:*'))).toBe('deny')
})

test('an ask and a deny leave the set open', () => {
  expect(effectOf(tool('other'), ask('tool:a'))).toBe('allow')
  expect(effectOf(tool('other'), deny('tool:a'))).toBe('allow')
})

test('an allow closes the set: what nothing allows is denied, with a reason', () => {
  expect(effectOf(tool('a'), allow('tool:a'))).toBe('allow')
  expect(rulingOf(tool('b'), [ruleSet('session:s', [allow('tool:a')])])).toEqual({
    type: 'deny',
    rule: null,
    reason: 'No rule of session:s allows execute tool:b.',
  })
  expect(effectOf(file('read', 'a'), allow('tool:a'))).toBe('deny')
})

test('a right that the allow does not name is denied', () => {
  const rule = allow('fs:**', { rights: ['read'] })
  expect(effectOf(file('read', 'a'), rule)).toBe('allow')
  expect(effectOf(file('write', 'a'), rule)).toBe('deny')
})

test('a preset closes the set even if it has no allow', () => {
  expect(effectOf(tool('a'), { ...ask('tool:x'), preset: 'ask' })).toBe('deny')
})

test('an expired allow no longer counts, and its set stays closed', () => {
  const rule = allow('tool:a', { expiresAt: NOON + 1 })
  const sets = [ruleSet('session:s', [rule])]
  expect(rulingOf(tool('a'), sets, [], { at: NOON }).type).toBe('allow')
  expect(rulingOf(tool('a'), sets, [], { at: NOON + 1 }).type).toBe('deny')
  expect(rulingOf(tool('b'), sets, [], { at: NOON + 1 }).type).toBe('deny')
})

test('an expired deny or ask no longer counts', () => {
  expect(effectOf(tool('a'), deny('tool:a', { expiresAt: NOON }), ask('tool:a', { expiresAt: NOON }))).toBe(
    'allow',
  )
})

test('revoking the only allow leaves the set closed', () => {
  const revoked = decideRevocation(ruleSet('session:s', [allow('tool:a')]), 'tool:a')
  if (revoked.type !== 'revoke') throw new Error(revoked.refusal.message)
  expect(revoked.ruleSet).toMatchObject({ rules: [], closed: true })
  expect(rulingOf(tool('a'), [revoked.ruleSet]).type).toBe('deny')
})

test('a rule that is not revocable, or not there, is not revoked', () => {
  const set = ruleSet('session:s', [allow('tool:a', { revocable: false })])
  expect(decideRevocation(set, 'tool:a')).toMatchObject({ type: 'refuse', refusal: { code: 'denied' } })
  expect(decideRevocation(set, 'tool:b')).toMatchObject({ type: 'refuse', refusal: { code: 'not_found' } })
})

test('asks and denies that are added leave an open set open', () => {
  expect(withRules(ruleSet('home', []), [ask('tool:a'), deny('tool:b')]).closed).toBe(false)
  expect(withRules(ruleSet('home', []), [allow('tool:a')]).closed).toBe(true)
})

test('in a closed set an ask that is not requestable does not make its resource available', () => {
  const sets = [ruleSet('session:s', [allow('tool:b'), ask('tool:a')])]
  expect(rulingOf(tool('a'), sets)).toMatchObject({
    type: 'deny',
    reason: expect.stringContaining('"ask  execute tool:a" is not requestable'),
  })
})

test('a requestable ask is asked for where nothing allows, and nothing else is', () => {
  const rules = [allow('tool:a'), ask('tool:*', { requestable: true }), allow('fs:**')]
  expect(effectOf(tool('a'), ...rules)).toBe('allow')
  expect(effectOf(tool('b'), ...rules)).toBe('ask')
  expect(effectOf(file('write', 'x'), ...rules)).toBe('deny')
})

test('a requestable ask covers only what certainly is what may be asked for', () => {
  const rules = [allow('tool:a'), ask('shell:git push', { requestable: true })]
  expect(effectOf(command('git push'), ...rules)).toBe('ask')
  expect(effectOf(command('git $'), ...rules)).toBe('deny')
})

test('a requestable ask of an open set asks', () => {
  expect(effectOf(tool('a'), ask('tool:a', { requestable: true }))).toBe('ask')
})

test.for(['home', 'workspace:/w', 'session:s', 'process:p_a'])(
  'the strictest of home, workspace, session, process and ceiling wins: a deny of %s',
  (strict) => {
    const subjects = ['home', 'workspace:/w', 'session:s', 'process:p_a']
    const sets = subjects.map((subject) =>
      ruleSet(subject, subject === strict ? [deny('tool:a')] : [allow('tool:a')]),
    )
    const ceiling = { givenTo: 'p_a', rules: [allow('tool:a')] }
    expect(rulingOf(tool('a'), sets, [ceiling])).toMatchObject({ type: 'deny', rule: { subject: strict } })
    const asks = subjects.map((subject) =>
      ruleSet(subject, subject === strict ? [allow('tool:a'), ask('tool:a')] : [allow('tool:a')]),
    )
    expect(rulingOf(tool('a'), asks, [ceiling])).toMatchObject({ type: 'ask', rule: { subject: strict } })
  },
)

test('a closed set denies what another set allows', () => {
  const sets = [ruleSet('session:s', [allow('tool:a')]), ruleSet('process:p_a', [allow('tool:b')])]
  expect(rulingOf(tool('a'), sets)).toMatchObject({
    type: 'deny',
    reason: expect.stringContaining('process:p_a'),
  })
})

test('a ceiling holds in the tenth generation, despite any grant below it', () => {
  const launch = [allow('fs:src/**', { rights: ['read', 'write'] })]
  const wide = [allow('fs:/**', { rights: ['read', 'write'] })]
  let ceilings: readonly Ceiling[] = ceilingsOf({ pid: 'p_root', parent: [], restarted: null, own: launch })
  for (let generation = 1; generation < 10; generation++)
    ceilings = ceilingsOf({
      pid: `p_${generation}`,
      parent: ceilings,
      restarted: null,
      own: generation % 3 === 0 ? wide : null,
    })
  const sets = [ruleSet('process:p_10', [allow('fs:/**', { rights: ['read', 'write'] })])]
  expect(rulingOf(file('write', 'src/a.ts'), sets, ceilings).type).toBe('allow')
  expect(rulingOf(file('write', 'docs/a.md'), sets, ceilings)).toMatchObject({
    type: 'deny',
    reason: expect.stringContaining('ceiling:p_root'),
  })
  expect(rulingOf(file('write', 'docs/a.md'), [], ceilings).type).toBe('deny')
})

test('a ceiling without rules allows nothing', () => {
  expect(rulingOf(tool('a'), [], [{ givenTo: 'p_a', rules: [] }]).type).toBe('deny')
})

test('in an untrusted workspace allows are inert, and asks and denies hold', () => {
  const rules = [allow('tool:a'), ask('tool:b'), deny('tool:c')]
  const untrusted = ruleSet('workspace:/w', rules, {
    trusted: false,
    closed: true,
    source: { path: '/w/.reeve/policy.json', hash: 'h' },
  })
  // Neither do its allows close the set.
  expect(rulingOf(tool('x'), [untrusted])).toMatchObject({ type: 'allow', rule: null })
  expect(rulingOf(tool('a'), [untrusted])).toMatchObject({ type: 'allow', rule: null })
  expect(rulingOf(tool('b'), [untrusted]).type).toBe('ask')
  expect(rulingOf(tool('c'), [untrusted]).type).toBe('deny')
  expect(rulingOf(tool('a'), [untrusted, ruleSet('session:s', [allow('tool:x')])]).type).toBe('deny')
  expect(rulingOf(tool('x'), [{ ...untrusted, trusted: true }]).type).toBe('deny')
})

test('an untrusted workspace cannot silence its own ask', () => {
  const rules = [ask('tool:a', { requestable: true }), allow('tool:a', { id: 'own' })]
  expect(rulingOf(tool('a'), [ruleSet('workspace:/w', rules, { trusted: false })]).type).toBe('ask')
})

test('a denial names the justification of its rule', () => {
  const sets = [ruleSet('home', [deny('tool:a', { justification: 'Use tool b.' })])]
  expect(rulingOf(tool('a'), sets)).toMatchObject({ type: 'deny', reason: 'Use tool b.' })
})

test('a stored rule with an effect that this version does not know denies', () => {
  const stored = JSON.parse(JSON.stringify({ ...deny('tool:a'), effect: 'quarantine' })) as Rule
  expect(effectOf(tool('a'), stored)).toBe('deny')
})

const opaque = command('python x.py', { opaque: 'python runs any code' })

test('what cannot be analysed is allowed as long as no rule is about programs', () => {
  expect(effectOf(opaque)).toBe('allow')
  expect(effectOf(opaque, deny('tool:a'))).toBe('allow')
})

test.for([ask('shell:git push'), deny('shell:git push')])(
  'what cannot be analysed asks while a rule about programs applies: $effect',
  (rule) => {
    expect(rulingOf(opaque, [ruleSet('session:s', [rule])])).toMatchObject({
      type: 'ask',
      reviewer: null,
      rule: { id: 'shell:git push' },
    })
    expect(effectOf(opaque, { ...rule, expiresAt: NOON })).toBe('allow')
  },
)

test('what cannot be analysed goes to the reviewer only if a reviewer is asked for every rule about programs', () => {
  const reviewed = ask('shell:git push', { reviewer: 'auditor' })
  expect(rulingOf(opaque, [ruleSet('session:s', [reviewed])])).toMatchObject({ reviewer: 'auditor' })
  expect(rulingOf(opaque, [ruleSet('session:s', [reviewed, deny('shell:rm')])])).toMatchObject({
    reviewer: null,
  })
})

test('in a closed set what cannot be analysed needs shell:sh', () => {
  expect(effectOf(opaque, allow('shell:python'))).toBe('deny')
  expect(effectOf(opaque, allow('shell:**'))).toBe('deny')
  expect(effectOf(opaque, allow('shell:git'), ask('shell:git push'))).toBe('deny')
  expect(effectOf(opaque, allow('shell:sh'))).toBe('allow')
  expect(effectOf(opaque, allow('shell:sh'), ask('shell:git push'))).toBe('allow')
  expect(effectOf(command('git push'), allow('shell:sh'), ask('shell:git push'))).toBe('ask')
})

test('an allow of shell:sh is every command; with arguments it is only that of sh', () => {
  expect(effectOf(command('rm -rf x'), allow('shell:sh'))).toBe('allow')
  expect(effectOf(tool('a'), allow('shell:sh'))).toBe('deny')
  const script = allow('shell:sh build.sh')
  expect(effectOf(command('sh build.sh', { opaque: 'another shell' }), script)).toBe('allow')
  expect(effectOf(command('python build.sh', { opaque: 'python runs any code' }), script)).toBe('deny')
})

test('an ask or a deny of shell:sh is about shells and what cannot be analysed, not about every command', () => {
  expect(effectOf(command('ls'), deny('shell:sh'))).toBe('allow')
  expect(effectOf(command('sh -c ls'), deny('shell:sh'))).toBe('deny')
  expect(effectOf(opaque, deny('shell:sh'))).toBe('deny')
  expect(effectOf(opaque, deny('shell:python'))).toBe('deny')
})

test('a program that only starts others needs no allow, and meets asks and denies', () => {
  const wrapper = command('nohup git status', { transparent: true })
  expect(effectOf(wrapper, allow('shell:git'))).toBe('allow')
  expect(effectOf(wrapper, allow('shell:git'), ask('shell:*', { requestable: true }))).toBe('allow')
  expect(effectOf(wrapper, allow('shell:git'), ask('shell:nohup'))).toBe('ask')
  expect(effectOf(wrapper, allow('shell:git'), deny('shell:nohup'))).toBe('deny')
})

test('a write to a file that cannot be known asks if it may be one that a rule denies', () => {
  const somewhere = file('write', null)
  expect(effectOf(somewhere)).toBe('allow')
  expect(effectOf(somewhere, deny('fs:.env'))).toBe('ask')
  expect(effectOf(somewhere, ask('fs:.env'))).toBe('ask')
  expect(effectOf(somewhere, deny('fs:/**'))).toBe('deny')
  expect(effectOf(somewhere, deny('fs:.env', { rights: ['read'] }))).toBe('allow')
  expect(effectOf(somewhere, allow('fs:**', { rights: ['write'] }), deny('fs:.env'))).toBe('deny')
  expect(effectOf(somewhere, allow('fs:/**', { rights: ['write'] }), deny('fs:.env'))).toBe('ask')
})

test('of an action with several needs, a denied one denies all, and an asked one asks for all', () => {
  const sets = [
    ruleSet('session:s', [ask('shell:git push'), deny('shell:rm'), ask('shell:ls', { reviewer: 'r' })]),
  ]
  const all = (...lines: string[]) =>
    ruleOnAll(
      sets,
      [],
      lines.map((line) => command(line)),
      factsAt(NOON),
    )
  expect(all('cat a', 'git push', 'rm -rf x')).toMatchObject({ type: 'deny', rule: { id: 'shell:rm' } })
  expect(all('cat a', 'ls', 'git push')).toMatchObject({ type: 'ask', rule: { id: 'shell:git push' } })
  expect(all('cat a', 'echo')).toMatchObject({ type: 'allow' })
  expect(all()).toEqual({ type: 'allow', rule: null, uses: [] })
})

test('an allow with limited uses counts until they are used up, and its ruling names it', () => {
  const sets = [ruleSet('session:s', [allow('tool:a', { id: 'three', uses: 3 })])]
  const three = { subject: 'session:s', id: 'three', text: 'allow  execute tool:a  3 uses' }
  const used = (count: number) => ({ used: new Map([[useIdOf(three), count]]) })
  expect(rulingOf(tool('a'), sets, [], used(2))).toEqual({ type: 'allow', rule: three, uses: [three] })
  expect(rulingOf(tool('a'), sets, [], used(3)).type).toBe('deny')
  expect(rulingOf(tool('a'), sets).type).toBe('deny')
  expect(countedRulesOf(sets, [], [tool('a'), tool('a')], factsAt(NOON))).toEqual([three])
  expect(countedRulesOf(sets, [], [tool('b')], factsAt(NOON))).toEqual([])
})

test('no use is spent while another allow covers the need', () => {
  const sets = [ruleSet('session:s', [allow('tool:a', { id: 'three', uses: 3 }), allow('tool:*')])]
  const used = new Map([['session:s three', 0]])
  expect(rulingOf(tool('a'), sets, [], { used })).toMatchObject({ rule: { id: 'tool:*' }, uses: [] })
})

test('an ask names the uses that it would take, and several needs take one', () => {
  const rules = [allow('tool:*', { id: 'one', uses: 1 }), ask('tool:a')]
  const facts = factsAt(NOON, { used: new Map([['session:s one', 0]]) })
  expect(ruleOnAll([ruleSet('session:s', rules)], [], [tool('a'), tool('b')], facts)).toMatchObject({
    type: 'ask',
    uses: [{ subject: 'session:s', id: 'one' }],
  })
})

test("a person's answer settles the ask that it was given to, for what it covers, and leaves its set open", () => {
  const home = ruleSet('home', [ask('shell:git push', { id: 'push' })])
  const answer: Rule = { ...allow('shell:git push origin'), settles: [{ subject: 'home', rule: 'push' }] }
  const session = ruleSet('session:s', [answer])
  expect(rulingOf(command('git push origin'), [home, session])).toMatchObject({ type: 'allow' })
  expect(rulingOf(command('git push other'), [home, session]).type).toBe('ask')
  expect(rulingOf(command('git $ origin'), [home, session]).type).toBe('ask')
  expect(rulingOf(tool('a'), [home, session]).type).toBe('allow')
  const later = ruleSet('home', [...home.rules, ask('shell:git', { id: 'later' })])
  expect(rulingOf(command('git push origin'), [later, session])).toMatchObject({ rule: { id: 'later' } })
  const denied = ruleSet('home', [...home.rules, deny('shell:git push')])
  expect(rulingOf(command('git push origin'), [denied, session]).type).toBe('deny')
  const expired = ruleSet('session:s', [{ ...answer, expiresAt: NOON }])
  expect(rulingOf(command('git push origin'), [home, expired]).type).toBe('ask')
})

test('an answer settles a requestable ask of a closed set', () => {
  const closed = ruleSet('process:p_a', [allow('tool:x'), ask('tool:a', { id: 'may', requestable: true })])
  const answer: Rule = { ...allow('tool:a'), settles: [{ subject: 'process:p_a', rule: 'may' }] }
  expect(rulingOf(tool('a'), [closed, ruleSet('session:s', [answer])]).type).toBe('allow')
})

test('a workspace cannot answer for a person', () => {
  const home = ruleSet('home', [ask('tool:a', { id: 'a' })])
  const forged: RuleSet = ruleSet(
    'workspace:/w',
    [{ ...allow('tool:a'), settles: [{ subject: 'home', rule: 'a' }] }],
    { trusted: false },
  )
  expect(rulingOf(tool('a'), [home, forged]).type).toBe('ask')
})

test('a ruling that is repeated is the same, and follows a set that changes and rules that depend on time', () => {
  const need: Need = { right: 'execute', resource: { kind: 'tool', path: 'a' }, attributes: NO_ATTRIBUTES }
  const set = ruleSet('session:s', [allow('tool:a')])
  const first = rulingOf(need, [set])
  expect(first.type).toBe('allow')
  expect(rulingOf(need, [set])).toEqual(first)
  const other: Need = { ...need, resource: { kind: 'tool', path: 'b' } }
  expect([rulingOf(other, [set]).type, rulingOf({ ...need, right: 'read' }, [set]).type]).toEqual([
    'deny',
    'deny',
  ])
  expect(rulingOf(need, [{ ...set, rules: [...set.rules, deny('tool:a')] }]).type).toBe('deny')
  expect(rulingOf(need, [{ ...set, trusted: false }]).type).toBe('allow')
  const brief = ruleSet('session:s', [allow('tool:a', { expiresAt: NOON + 1 })])
  expect([NOON, NOON + 1].map((at) => ruleOn([brief], [], need, factsAt(at)).type)).toEqual(['allow', 'deny'])
})

test('a doubt is a part of a sentence, whatever its reason ends with', () => {
  const sets = [ruleSet('home', [{ ...ask('shell:git'), id: 'r1' }])]
  const needs = [command('make', { opaque: 'The variable PATH can make a program run other code.' })]
  expect(doubtOf({ subject: 'home', id: 'r1' }, { sets, ceilings: [], needs, facts: factsAt(NOON) })).toBe(
    'The variable PATH can make a program run other code',
  )
})
