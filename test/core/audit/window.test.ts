import { expect, test } from 'vitest'
import type { AuditEntry } from '../../../src/core/audit/entry.ts'
import {
  AUDIT_WINDOW_MS,
  type AuditWindow,
  countDenial,
  denialText,
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
