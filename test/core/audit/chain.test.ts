import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { CHAIN_BEGIN, type ChainedEntry } from '../../../src/core/audit/chain.ts'
import { type AuditEntry, auditEntryFrom, auditText } from '../../../src/core/audit/entry.ts'
import { verifyEnd, verifyPage } from '../../../src/core/audit/verify.ts'

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

function entryAt(at: number): AuditEntry {
  return {
    at,
    actor: 'session:s1',
    action: 'spawn',
    target: 'shell:git',
    decision: 'denied',
    rule: null,
    reason: 'no rule allows it',
    inputs: { run: 'git push' },
    trace: null,
  }
}

/** A chain of so many entries, whose times begin with `from`. */
function chainOf(count: number, from = 1): ChainedEntry[] {
  const chain: ChainedEntry[] = []
  for (let position = 1; position <= count; position++) {
    const at = from + position - 1
    const text = auditText(entryAt(at))
    chain.push({ position, at, text, hash: hashOf(`${chain.at(-1)?.hash ?? ''}${text}`) })
  }
  return chain
}

const verify = (page: readonly ChainedEntry[], anchors: readonly { position: number; hash: string }[] = []) =>
  verifyPage(CHAIN_BEGIN, page, anchors, hashOf)

function changed(chain: readonly ChainedEntry[], position: number, change: Partial<ChainedEntry>) {
  return chain.map((entry) => (entry.position === position ? { ...entry, ...change } : entry))
}

test('the text of an entry has its members in one order, and is read back as the entry', () => {
  const text =
    '{"action":"spawn","actor":"session:s1","at":7,"decision":"denied","inputs":{"run":"git push"},' +
    '"reason":"no rule allows it","rule":null,"target":"shell:git","trace":null}'
  expect(auditText(entryAt(7))).toBe(text)
  const { trace, ...rest } = entryAt(7)
  expect(auditText({ trace, ...rest })).toBe(text)
  expect(auditEntryFrom(text)).toEqual(entryAt(7))
})

test.each(['', 'null', '7', '{}', '{"at":"7"}', '{"at":7'])('%j holds no entry', (text) => {
  expect(auditEntryFrom(text)).toBeNull()
})

test('a whole chain is sound, page by page', () => {
  const chain = chainOf(5)
  const first = verify(chain.slice(0, 2))
  if (first.type === 'broken') throw new Error(first.reason)
  expect(first.end).toEqual({ position: 2, hash: chain[1]?.hash })
  const second = verifyPage(first.end, chain.slice(2), [], hashOf)
  expect(second).toEqual({ type: 'sound', end: { position: 5, hash: chain[4]?.hash } })
  expect(verify([])).toEqual({ type: 'sound', end: CHAIN_BEGIN })
})

test('a changed text, time or hash is found at its entry', () => {
  const chain = chainOf(5)
  const text = chain[2]?.text.replace('git push', 'git pull') ?? ''
  const broken = { type: 'broken', from: 3, reason: 'changed' }
  expect(verify(changed(chain, 3, { text }))).toEqual(broken)
  expect(verify(changed(chain, 3, { at: 4 }))).toEqual(broken)
  expect(verify(changed(chain, 3, { hash: hashOf('other') }))).toEqual(broken)
  expect(verify(changed(chain, 3, { text: '' }))).toEqual(broken)
})

test('a removed entry is found, at the beginning and in the middle', () => {
  const chain = chainOf(5)
  expect(verify(chain.filter(({ position }) => position !== 3))).toEqual({
    type: 'broken',
    from: 3,
    reason: 'missing',
  })
  expect(verify(chain.slice(1))).toEqual({ type: 'broken', from: 1, reason: 'missing' })
  // Later entries have moved up: the next one does not continue the hash before it.
  const renumbered = chain.filter(({ position }) => position !== 3)
  const moved = renumbered.map((entry, index) => ({ ...entry, position: index + 1 }))
  expect(verify(moved)).toEqual({ type: 'broken', from: 3, reason: 'changed' })
})

test('a cut tail is found by an anchor behind it, and a longer chain is sound', () => {
  const chain = chainOf(5)
  const anchors = [2, 4].map((position) => ({ position, hash: chain[position - 1]?.hash ?? '' }))
  const cut = verify(chain.slice(0, 3), anchors)
  if (cut.type === 'broken') throw new Error(cut.reason)
  expect(verifyEnd(cut.end, anchors)).toEqual({ type: 'broken', from: 4, reason: 'cut' })
  const whole = verify(chain, anchors)
  if (whole.type === 'broken') throw new Error(whole.reason)
  expect(verifyEnd(whole.end, anchors)).toBeNull()
})

test('a chain that was replaced as a whole is found after the last anchor that it still contains', () => {
  const chain = chainOf(6)
  const anchors = [2, 5].map((position) => ({ position, hash: chain[position - 1]?.hash ?? '' }))
  const forged = chainOf(6, 100)
  expect(verify(forged, anchors)).toEqual({ type: 'broken', from: 1, reason: 'rewritten' })
  const tail: ChainedEntry[] = []
  for (const { position, text, at } of forged.slice(3)) {
    const before = tail.at(-1)?.hash ?? chain[2]?.hash ?? ''
    tail.push({ position, at, text, hash: hashOf(`${before}${text}`) })
  }
  expect(verify([...chain.slice(0, 3), ...tail], anchors)).toEqual({
    type: 'broken',
    from: 3,
    reason: 'rewritten',
  })
})
