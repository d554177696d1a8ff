import { expect, test } from 'vitest'
import { decideClaim } from '../../../src/core/lease/decide-claim.ts'
import { decide } from '../../../src/core/process/decide.ts'
import type { ApprovalSettled } from '../../../src/core/process/event.ts'
import type { Intent } from '../../../src/core/process/intent.ts'
import type { ProcessRow } from '../../../src/core/process/row.ts'
import { dueIn, wakesAt } from '../../../src/core/process/wait.ts'
import { dueOf } from '../../../src/store/due.ts'
import { after, RULES, registered } from '../registered.ts'

const PID = 'p_azzzzzzzzzzz'
const asked = { pid: PID, actor: 'human:ada', at: 2_000 } as const
const fence = { holder: 'k1', fence: 1 }
const request = { approval: 'a_1', actionHash: 'hash of the action', expiresAt: 9_000 }

function settle(settled: Omit<ApprovalSettled, 'approval' | 'by'>, value?: string): Intent {
  const whole = { approval: 'a_1', by: 'human:ada', ...settled } as const
  return { type: 'settle_approval', ...asked, settled: whole, ...(value === undefined ? {} : { value }) }
}

function gated(): ProcessRow {
  return registered(PID, { limits: { runMs: 5 } }, request)
}

test('a process that needs an approval is registered unbegun, waits for the approval, and is held by no kernel', () => {
  const { record, holder, fence } = gated()
  expect({ holder, fence }).toEqual({ holder: null, fence: 0 })
  expect(record).toMatchObject({
    status: 'waiting',
    wait: { on: 'approval', name: 'a_1', until: null },
    gate: { ...request, state: 'pending' },
    attempts: 0,
    firstStarted: null,
  })
})

test('a process that needs an approval is never due at any time, and cannot be claimed or started', () => {
  const row = gated()
  expect([dueOf(row), wakesAt(row.record), dueIn(row.record)]).toEqual([null, null, null])
  expect(decideClaim(row, { holder: 'k1', here: [] }, 10 ** 12)).toEqual({
    type: 'refused',
    why: 'not_ready',
  })
  const held = { ...row, ...fence }
  expect(decide({ row: held, replayed: null }, { type: 'start', ...asked, fence }, RULES)).toMatchObject({
    type: 'refuse',
    refusal: { code: 'not_claimable' },
  })
})

test('a process that needs an approval is queued by the approval, and can be claimed then', () => {
  const row = after(gated(), settle({ how: 'approved' }))
  expect(row.record).toMatchObject({ status: 'queued', wait: null, parked: false })
  expect(row.record.gate).toEqual({ ...request, state: 'approved' })
  expect(decideClaim(row, { holder: 'k1', here: [] }, 3_000)).toMatchObject({ type: 'granted' })
})

test('a process that needs an approval runs the edited spec of the approval, and keeps the one that was asked for', () => {
  const spec = { tool: 't', input: 'edited' }
  const { record } = after(gated(), settle({ how: 'approved', spec, actionHash: 'of the edited action' }))
  expect(record.spec).toEqual({ tool: 't' })
  expect(record.effectiveSpec).toEqual(spec)
  expect(record.gate?.actionHash).toBe('of the edited action')
})

test('a process that needs an approval ends without a start when it is denied, and its asker reads the advice', () => {
  const { record } = after(gated(), settle({ how: 'denied', advice: 'Open a pull request.' }))
  expect(record.outcome).toMatchObject({
    status: 'cancelled',
    reason: 'approval_denied',
    source: 'human:ada',
    result: { advice: 'Open a pull request.' },
    startedAt: null,
  })
  expect(record.gate).toEqual({ ...request, state: 'denied' })
})

test('a process that needs an approval ends without a start when its approval expires', () => {
  const { record } = after(gated(), settle({ how: 'expired' }))
  expect(record.outcome).toMatchObject({ status: 'cancelled', reason: 'approval_expired', startedAt: null })
  expect(record.gate?.state).toBe('expired')
})

test('a process that needs an approval ends with the answer when it is a question', () => {
  const { record } = after(gated(), settle({ how: 'answered' }, 'blue'))
  expect(record.outcome).toMatchObject({ status: 'completed', result: 'blue', startedAt: null })
  expect(record.gate?.state).toBe('answered')
})

test('a process that needs an approval ignores the answer to another approval', () => {
  const row = gated()
  const other: Intent = {
    type: 'settle_approval',
    ...asked,
    settled: { approval: 'a_2', how: 'approved', by: 'host' },
  }
  expect(decide({ row, replayed: null }, other, RULES)).toEqual({ type: 'keep' })
})

test('a process that needs an approval ignores a second answer once it is approved', () => {
  const row = after(gated(), settle({ how: 'approved' }))
  expect(decide({ row, replayed: null }, settle({ how: 'denied' }), RULES)).toEqual({ type: 'keep' })
})

test('a process that needs an approval ends at once when it is cancelled', () => {
  const stop = { how: 'cancel', reason: 'cancelled', cause: null, replayKey: 'stop' } as const
  const { record } = after(gated(), { type: 'stop', ...asked, ...stop })
  expect(record.outcome).toMatchObject({ status: 'cancelled', reason: 'cancelled', startedAt: null })
  expect(record.gate?.state).toBe('withdrawn')
  const approved = after(gated(), settle({ how: 'approved' }))
  expect(after(approved, { type: 'stop', ...asked, ...stop }).record.gate?.state).toBe('approved')
})

test('a process that needs an approval stays paused when it is approved meanwhile, and is queued when it is resumed', () => {
  const paused = after(gated(), { type: 'pause', ...asked })
  const approved = after(paused, settle({ how: 'approved' }))
  expect(approved.record).toMatchObject({ status: 'paused', pausedFrom: 'queued' })
  expect(after(approved, { type: 'resume', ...asked }).record.status).toBe('queued')
})

test('a process that needs an approval is asked about again when the action has changed before it begins', () => {
  const approved = after(gated(), settle({ how: 'approved' }))
  const begun = after({ ...approved, ...fence }, { type: 'start', ...asked, fence })
  const again = { approval: 'a_2', actionHash: 'another', expiresAt: null }
  const row = after(begun, { type: 'ask_again', ...asked, requested: again, fence })
  expect(row.holder).toBe(null)
  expect(row.record).toMatchObject({
    status: 'waiting',
    wait: { on: 'approval', name: 'a_2' },
    gate: { ...again, state: 'pending' },
    attempts: 0,
  })
  expect(dueOf(row)).toBe(null)
})
