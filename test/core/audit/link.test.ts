import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AuditLink } from '../../../src/core/audit/chain.ts'
import { type AuditEntry, auditText } from '../../../src/core/audit/entry.ts'
import { entriesIn, entriesOf, linkTexts } from '../../../src/core/audit/link.ts'

const RULE = { subject: 'session:s1', id: 'r1', text: 'allow execute tool:unit' }

function entryOf(change: Partial<AuditEntry> = {}): AuditEntry {
  return {
    at: 7,
    actor: 'session:s1',
    action: 'spawn',
    target: 'process:p_1',
    decision: 'allowed',
    rule: RULE,
    reason: null,
    inputs: INPUTS,
    trace: null,
    ...change,
  }
}

const INPUTS = { needs: ['execute tool:unit'] }

function linkOf(entries: readonly AuditEntry[], end = entries.length): AuditLink {
  const [link] = linkTexts(entries)
  return { position: end, at: link?.at ?? 0, text: link?.text ?? '', hash: 'h' }
}

test('a link of one entry has the text of the entry, as the rows of earlier versions do', () => {
  const entry = entryOf()
  expect(linkTexts([entry])).toEqual([{ count: 1, at: 7, text: auditText(entry) }])
  expect(linkTexts([])).toEqual([])
})

test('an entry that differs in its target alone takes only that', () => {
  const [link] = linkTexts([
    entryOf(),
    entryOf({ target: 'process:p_2' }),
    entryOf({ target: 'process:p_3' }),
  ])
  expect(link).toEqual({
    count: 3,
    at: 7,
    text: `[${auditText(entryOf())},{"target":"process:p_2"},{"target":"process:p_3"}]`,
  })
})

test('members that differ are read back, also null after a value', () => {
  const entries = [
    entryOf(),
    entryOf({ at: 3, reason: 'why', trace: 't' }),
    entryOf({ at: 3, rule: null, decision: 'denied', inputs: { other: 'über "x" \u0000' } }),
    entryOf(),
  ]
  expect(entriesIn(linkTexts(entries)[0]?.text ?? '')).toEqual(entries)
})

test('the time of a link is the latest of its entries', () => {
  expect(linkTexts([7, 9, 8].map((at) => entryOf({ at })))[0]?.at).toBe(9)
})

test('many entries and long entries are divided into several links', () => {
  const many = Array.from({ length: 250 }, (_, index) => entryOf({ target: `process:p_${index}` }))
  expect(linkTexts(many).map(({ count }) => count)).toEqual([100, 100, 50])
  const long = Array.from({ length: 5 }, (_, index) =>
    entryOf({ inputs: { text: 'x'.repeat(10_000), index } }),
  )
  expect(linkTexts(long).map(({ count }) => count)).toEqual([2, 2, 1])
})

test('every list of entries is read back from its links', () => {
  const text = fc.oneof(fc.constantFrom('a', 'b'), fc.string())
  const made = fc.record({
    at: fc.nat(9),
    actor: text,
    action: text,
    target: text,
    decision: fc.constantFrom('allowed', 'denied'),
    rule: fc.constantFrom(null, RULE, { ...RULE, id: 'r2' }),
    reason: fc.option(text),
    inputs: fc.constantFrom(INPUTS, {}, { deep: [{ a: null }] }),
    trace: fc.option(text),
  }) satisfies fc.Arbitrary<AuditEntry>
  fc.assert(
    fc.property(fc.array(made, { maxLength: 130 }), (entries) => {
      expect(linkTexts(entries).flatMap((link) => entriesIn(link.text))).toEqual(entries)
    }),
    { numRuns: 200 },
  )
})

test('the entries of a link have places of their own, and its hash', () => {
  const entries = [entryOf(), entryOf({ at: 8, target: 'process:p_2' })]
  expect(entriesOf(linkOf(entries, 12))).toEqual([
    { position: 11, at: 7, text: auditText(entryOf()), hash: 'h' },
    { position: 12, at: 8, text: auditText(entryOf({ at: 8, target: 'process:p_2' })), hash: 'h' },
  ])
})

test.each([
  '',
  'null',
  '[]',
  '[7]',
  '[{"target":"x"}]',
  `[${auditText(entryOf())},7]`,
  `[${auditText(entryOf())}`,
])('%j holds no entries, and is one that cannot be read', (text) => {
  expect(entriesIn(text)).toBeNull()
  const link = { ...linkOf([entryOf()], 5), text }
  expect(entriesOf(link)).toEqual([link])
})
