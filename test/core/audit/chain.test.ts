import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { type AuditLink, CHAIN_BEGIN } from '../../../src/core/audit/chain.ts'
import { type AuditEntry, auditEntryFrom, auditText } from '../../../src/core/audit/entry.ts'
import { linkTexts } from '../../../src/core/audit/link.ts'
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

/** A chain of so many links with one entry each, whose times begin with `from`. */
function chainOf(count: number, from = 1): AuditLink[] {
  const chain: AuditLink[] = []
  for (let position = 1; position <= count; position++) {
    const at = from + position - 1
    const text = auditText(entryAt(at))
    chain.push({ position, at, text, hash: hashOf(`${chain.at(-1)?.hash ?? ''}${text}`) })
  }
  return chain
}

/** A chain of links with so many entries each. */
function linksOf(...counts: readonly number[]): AuditLink[] {
  const chain: AuditLink[] = []
  let at = 0
  for (const count of counts) {
    const entries = Array.from({ length: count }, () => entryAt(++at))
    const { position = 0, hash = '' } = chain.at(-1) ?? {}
    for (const link of linkTexts(entries))
      chain.push({ position: position + count, at, text: link.text, hash: hashOf(`${hash}${link.text}`) })
  }
  return chain
}

const verify = (page: readonly AuditLink[], anchors: readonly { position: number; hash: string }[] = []) =>
  verifyPage(CHAIN_BEGIN, page, anchors, hashOf)

function changed(chain: readonly AuditLink[], position: number, change: Partial<AuditLink>) {
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
  const tail: AuditLink[] = []
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

test('links of several entries are sound, and each entry has a place', () => {
  const chain = linksOf(3, 1, 4)
  expect(verify(chain)).toEqual({ type: 'sound', end: { position: 8, hash: chain[2]?.hash } })
})

test('every changed byte of a link is found, from the first entry of the link on', () => {
  const chain = linksOf(2, 3, 2)
  const text = chain[1]?.text ?? ''
  for (let index = 0; index < text.length; index++) {
    const flipped = String.fromCharCode(text.charCodeAt(index) ^ 1)
    const other = `${text.slice(0, index)}${flipped}${text.slice(index + 1)}`
    expect(verify(changed(chain, 5, { text: other }))).toMatchObject({ type: 'broken', from: 3 })
  }
  expect(verify(changed(chain, 5, { at: 4 }))).toEqual({ type: 'broken', from: 3, reason: 'changed' })
})

test('an entry that is removed from a link, and a link that is removed, are found', () => {
  const chain = linksOf(2, 3, 2)
  const [first, second] = linksOf(2, 2)
  // Without its last entry, with the hash of before or with a new one.
  const shorter = { ...chain[1], text: second?.text ?? '' }
  expect(verify(changed(chain, 5, shorter))).toEqual({ type: 'broken', from: 3, reason: 'missing' })
  const moved = { ...shorter, position: 4, at: second?.at ?? 0 }
  expect(verify(changed(chain, 5, moved))).toEqual({ type: 'broken', from: 3, reason: 'changed' })
  const rehashed = { ...moved, hash: second?.hash ?? '' }
  expect(verify(changed(chain, 5, rehashed))).toEqual({ type: 'broken', from: 5, reason: 'missing' })
  expect(first?.hash).toBe(chain[0]?.hash)
  expect(verify(chain.filter(({ position }) => position !== 5))).toEqual({
    type: 'broken',
    from: 3,
    reason: 'missing',
  })
})

test('an anchor where no link ends shows that the chain was rewritten', () => {
  const chain = linksOf(2, 3)
  const anchors = linksOf(2, 1, 1, 1).map(({ position, hash }) => ({ position, hash }))
  expect(verify(chain, anchors.slice(0, 1))).toMatchObject({ type: 'sound' })
  expect(verify(chain, anchors)).toEqual({ type: 'broken', from: 3, reason: 'rewritten' })
})
