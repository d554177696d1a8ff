import { expect, test } from 'vitest'
import type { AuditEntry } from '../../../src/core/audit/entry.ts'
import {
  AUDIT_WINDOW_MS,
  type AuditWindow,
  type CountedDenial,
  type CountedDenier,
  countDenial,
  countDenier,
  denialText,
  MAX_DENIALS,
  repeatedEntries,
} from '../../../src/core/audit/window.ts'

const RULE = { subject: 'session:s1', id: 'r1', text: 'deny  execute shell:git' }

function denied(at: number, more: Partial<AuditEntry> = {}): AuditEntry {
  return {
    at,
    actor: 'session:s1',
    action: 'spawn',
    target: 'shell:git',
    decision: 'denied',
    rule: RULE,
    reason: 'Never push.',
    inputs: { run: 'git push' },
    trace: null,
    ...more,
  }
}

test('the first denial is appended and opens a window, and equal ones within it are counted', () => {
  const first = countDenial(null, 'k', denied(1_000))
  expect(first.entries).toEqual([denied(1_000)])
  expect(first.window).toEqual({ key: 'k', openedAt: 1_000, repeats: 0, entry: denied(1_000) })
  const second = countDenial(first.window, 'k', denied(1_000 + AUDIT_WINDOW_MS - 1))
  expect(second.entries).toEqual([])
  expect(second.window).toEqual({ ...first.window, repeats: 1 })
})

test('the total of a window that is over is appended before the next denial, which opens a new one', () => {
  const was: AuditWindow = { key: 'k', openedAt: 1_000, repeats: 7, entry: denied(1_000, { trace: 't' }) }
  const at = 1_000 + AUDIT_WINDOW_MS
  const { entries, window } = countDenial(was, 'k', denied(at))
  expect(entries).toEqual([
    denied(at, { decision: 'repeated', inputs: { repeats: 7, since: 1_000 } }),
    denied(at),
  ])
  expect(window).toMatchObject({ openedAt: at, repeats: 0 })
})

test('a window without repetitions leaves no total', () => {
  expect(repeatedEntries({ key: 'k', openedAt: 1, repeats: 0, entry: denied(1) }, 9)).toEqual([])
})

test('a clock that was set back does not keep a window open', () => {
  const was: AuditWindow = { key: 'k', openedAt: 10 * AUDIT_WINDOW_MS, repeats: 1, entry: denied(1) }
  expect(countDenial(was, 'k', denied(9 * AUDIT_WINDOW_MS + 1)).entries).toEqual([])
  expect(countDenial(was, 'k', denied(9 * AUDIT_WINDOW_MS)).entries).toHaveLength(2)
})

test('actor, action, target and rule make denials different, and inputs do not', () => {
  const text = denialText(denied(1))
  expect(denialText(denied(2, { inputs: { run: 'git pull' }, reason: null, trace: 't' }))).toBe(text)
  for (const more of [
    { actor: 'session:s2' },
    { action: 'signal' },
    { target: 'shell:rm' },
    { rule: null },
    { rule: { ...RULE, id: 'r2' } },
    { rule: { ...RULE, subject: 'home' } },
  ])
    expect(denialText(denied(1, more))).not.toBe(text)
})

test('a million denials in a loop make two entries a minute', () => {
  let window: AuditWindow | null = null
  let entries = 0
  let counted = 0
  const MINUTES = 10
  for (let index = 0; index < 1_000_000; index++) {
    const at: number = Math.floor((index * MINUTES * AUDIT_WINDOW_MS) / 1_000_000)
    const next: ReturnType<typeof countDenial> = countDenial(window, 'k', denied(at))
    for (const { decision, inputs } of next.entries) {
      entries += 1
      counted += decision === 'repeated' ? Number(inputs['repeats']) : 1
    }
    window = next.window
  }
  expect(entries).toBe(2 * MINUTES - 1)
  expect(counted + (window?.repeats ?? 0)).toBe(1_000_000)
})

test('a million denials in a minute make one entry if they are equal, and a hundred if they differ', () => {
  let own: AuditWindow | null = null
  let denier: AuditWindow | null = null
  let appended = 0
  for (let n = 0; n < 1_000_000; n++) {
    const entry = denied(1_000 + Math.floor(n / 20))
    const equal: CountedDenial = countDenial(own, 'k', entry)
    own = equal.window
    appended += equal.entries.length
    const different: CountedDenier = countDenier(denier, 'd', entry)
    denier = different.window
    if (!different.isFull) appended += 1
  }
  expect(appended).toBe(1 + MAX_DENIALS)
  expect(own?.repeats).toBe(999_999)
  const over = 1_000 + AUDIT_WINDOW_MS
  expect(repeatedEntries(denier as AuditWindow, over)).toEqual([
    denied(over, {
      ...{ target: '*', rule: null, decision: 'repeated' },
      reason: 'More than 100 different denials.',
      inputs: { repeats: 1_000_000 - MAX_DENIALS, since: 1_000 },
    }),
  ])
})

test('a hundred different denials are all in the chain, and leave no total', () => {
  let denier: AuditWindow | null = null
  for (let n = 0; n < MAX_DENIALS; n++) {
    const counted: CountedDenier = countDenier(denier, 'd', denied(1_000))
    expect(counted.isFull).toBe(false)
    denier = counted.window
  }
  expect(repeatedEntries(denier as AuditWindow, 9_999_999)).toEqual([])
  expect(countDenier(denier, 'd', denied(1_000)).isFull).toBe(true)
})
