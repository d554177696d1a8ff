import fc from 'fast-check'
import { expect, test } from 'vitest'
import { covers } from '../../../src/core/capability/covers.ts'
import { decideDelegation } from '../../../src/core/capability/delegate.ts'
import { globMatches, isNarrowerGlob } from '../../../src/core/capability/glob.ts'
import { isNarrower } from '../../../src/core/capability/narrower.ts'
import { parseResource, type ResourcePattern } from '../../../src/core/capability/resource.ts'
import type { Rule } from '../../../src/core/capability/rule.ts'
import { ruleOn } from '../../../src/core/capability/rule-on.ts'
import { matching, tableOf } from '../../../src/core/capability/rule-table.ts'
import type { Ruling } from '../../../src/core/capability/ruling.ts'
import { isRefusal } from '../../../src/core/refusal.ts'
import { anyKind, concreteOf, needOf, resourceOf, ruleOf, rulesOf, segment } from './arbitrary.ts'
import { isAbout } from './reference-matcher.ts'
import { effectOf, factsAt, NOON, ruleSet } from './rules.ts'

/** So often must the case that a property is about occur: far less often than it does, and more than once by chance. */
const MIN_CASES = 50

test('a compiled table finds the rules that a look at each rule finds', () => {
  const scene = anyKind.chain((kind) => fc.tuple(rulesOf(kind), needOf(kind)))
  let cases = 0
  fc.assert(
    fc.property(scene, ([rules, need]) => {
      const expected = rules.filter((one) => isAbout(one, need)).map(({ id }) => id)
      cases += expected.length
      const matched = matching(tableOf(rules), need, { at: NOON, host: 'here' })
      expect(matched.map(({ rule }) => rule.id)).toEqual(expected)
    }),
    { numRuns: 1000 },
  )
  expect(cases).toBeGreaterThan(MIN_CASES)
})

test('a more specific set or a ceiling never makes a ruling less strict', () => {
  const scene = anyKind.chain((kind) =>
    fc.tuple(fc.array(rulesOf(kind), { maxLength: 3 }), rulesOf(kind), needOf(kind)),
  )
  let cases = 0
  fc.assert(
    fc.property(scene, ([lists, more, need]) => {
      const sets = lists.map((rules, index) => ruleSet(`session:${index}`, rules))
      const before = strictness(ruleOn(sets, [], need, factsAt(NOON)))
      if (before > 0) cases++
      const specific = ruleOn([...sets, ruleSet('process:p_1', more)], [], need, factsAt(NOON))
      expect(strictness(specific)).toBeGreaterThanOrEqual(before)
      const limited = ruleOn(sets, [{ givenTo: 'p_1', rules: more }], need, factsAt(NOON))
      expect(strictness(limited)).toBeGreaterThanOrEqual(before)
    }),
    { numRuns: 1000 },
  )
  expect(cases).toBeGreaterThan(MIN_CASES)
})

test('no rule that is added to a set turns the deny of a rule into anything else', () => {
  const scene = anyKind.chain((kind) => fc.tuple(rulesOf(kind), rulesOf(kind), needOf(kind)))
  let cases = 0
  fc.assert(
    fc.property(scene, ([rules, more, need]) => {
      const before = ruleOn([ruleSet('session:s', rules)], [], need, factsAt(NOON))
      if (before.type !== 'deny' || before.rule === null) return
      cases++
      const after = ruleOn([ruleSet('session:s', [...more, ...rules])], [], need, factsAt(NOON))
      expect(after.type).toBe('deny')
    }),
    { numRuns: 1000 },
  )
  expect(cases).toBeGreaterThan(MIN_CASES)
})

test('a narrower pattern covers only what the wider one covers', () => {
  const scene = anyKind.chain((kind) =>
    fc.tuple(resourceOf(kind), resourceOf(kind), fc.array(concreteOf(kind), { minLength: 20 })),
  )
  let cases = 0
  fc.assert(
    fc.property(scene, ([a, b, samples]) => {
      if (!isNarrower(patternOf(a), patternOf(b))) return
      for (const sample of samples) {
        if (covers(patternOf(a), sample) !== 'yes') continue
        cases++
        expect(covers(patternOf(b), sample)).toBe('yes')
      }
    }),
    { numRuns: 3000 },
  )
  expect(cases).toBeGreaterThan(MIN_CASES)
})

test('a narrower glob matches only what the wider one matches', () => {
  const glob = fc
    .array(fc.constantFrom('a', 'ab', '*', 'a*', '*b', '**'), { minLength: 1, maxLength: 4 })
    .map((segments) => segments.join('/'))
  const paths = fc.array(fc.array(segment, { maxLength: 4 }), { minLength: 20 })
  let cases = 0
  fc.assert(
    fc.property(glob, glob, paths, (a, b, samples) => {
      if (!isNarrowerGlob(a, b)) return
      for (const sample of samples) {
        if (!globMatches(a, sample)) continue
        cases++
        expect(globMatches(b, sample)).toBe(true)
      }
    }),
    { numRuns: 3000 },
  )
  expect(cases).toBeGreaterThan(MIN_CASES)
})

test('a delegated rule allows nothing that the held one does not', () => {
  const scene = anyKind.chain((kind) =>
    fc.tuple(ruleOf(kind), ruleOf(kind), fc.array(needOf(kind), { minLength: 20 })),
  )
  let cases = 0
  fc.assert(
    fc.property(scene, ([one, other, samples]) => {
      const held: Rule = { ...one, effect: 'allow', expiresAt: NOON + 1, delegable: { depth: 1 } }
      const asked: Rule = { ...other, effect: 'allow', expiresAt: NOON + 1 }
      if (decideDelegation(ruleSet('session:s', [held]), asked, NOON).type === 'refuse') return
      for (const sample of samples) {
        if (effectOf(sample, asked) !== 'allow') continue
        cases++
        expect(effectOf(sample, held)).toBe('allow')
      }
    }),
    { numRuns: 1500 },
  )
  expect(cases).toBeGreaterThan(MIN_CASES)
})

function patternOf(text: string): ResourcePattern {
  const pattern = parseResource(text)
  if (isRefusal(pattern)) throw new Error(pattern.message)
  return pattern
}

function strictness(ruling: Ruling): number {
  if (ruling.type === 'deny') return 3
  if (ruling.type === 'allow') return 0
  return ruling.reviewer === null ? 2 : 1
}
