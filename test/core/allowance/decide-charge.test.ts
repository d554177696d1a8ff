import { expect, test } from 'vitest'
import { type Account, newAccount } from '../../../src/core/allowance/account.ts'
import { decideCharge } from '../../../src/core/allowance/decide-charge.ts'
import { after, registered } from '../registered.ts'

const PID = 'p_azzzzzzzzzzz'
const { record } = registered(PID)
const account = newAccount(
  { id: `process:${PID}`, parent: null, root: null, session: null },
  { toolCalls: 10 },
)
const before = { amounts: { toolCalls: 4 }, done: false }

function charged(of: Account, request: Parameters<typeof decideCharge>[2]) {
  const decision = decideCharge(record, of, request)
  if (decision.type !== 'charge') throw new Error(JSON.stringify(decision))
  return decision
}

test('a charge within the limit is booked, and a limit that comes near is reported once', () => {
  const first = charged(account, before)
  expect(first).toMatchObject({ account: { used: { toolCalls: 4 } }, near: [], over: null })
  const second = charged(first.account, before)
  expect(second.near).toEqual([{ limit: 'toolCalls', given: 10, spent: 8, carved: 0 }])
  expect(charged(second.account, { amounts: { toolCalls: 1 }, done: false }).near).toEqual([])
})

test('a charge beyond the limit is refused whole before the work, and kills the process after it', () => {
  const amounts = { toolCalls: 11 }
  const refused = decideCharge(record, account, { amounts, done: false })
  expect(refused).toMatchObject({ type: 'refuse', refusal: { code: 'limit_exceeded' } })
  expect(charged(account, { amounts, done: true })).toMatchObject({
    account: { used: amounts },
    near: [],
    over: 'toolCalls',
  })
})

test('a repeated key charges nothing again, and another charge under it is refused', () => {
  const keyed = { ...before, replayKey: 'charge:1' }
  const { account: now } = charged(account, keyed)
  expect(decideCharge(record, now, keyed)).toEqual({ type: 'replay' })
  const other = decideCharge(record, now, { ...keyed, amounts: { toolCalls: 1 } })
  expect(other).toMatchObject({ type: 'refuse', refusal: { code: 'replay_conflict' } })
})

test('a repeated charge of an ended process is still a repetition; a new one is refused', () => {
  const keyed = { ...before, replayKey: 'charge:1' }
  const { account: now } = charged(account, keyed)
  const asked = { pid: PID, actor: 'host', at: 2_000 } as const
  const ended = after(registered(PID), { type: 'request_abandon', ...asked, reason: 'test' }).record
  expect(decideCharge(ended, now, keyed)).toEqual({ type: 'replay' })
  const refused = decideCharge(ended, now, before)
  expect(refused).toMatchObject({ type: 'refuse', refusal: { code: 'already_ended' } })
})

test('an account whose allowance went back is charged no more', () => {
  const settled = { ...account, settled: true }
  const refused = decideCharge(record, settled, before)
  expect(refused).toMatchObject({ type: 'refuse', refusal: { code: 'already_ended' } })
})

test('amounts that the keeper of a command counts cannot be charged', () => {
  const command = { ...record, kind: 'command' } as const
  const refused = decideCharge(command, account, { amounts: { outputBytes: 1 }, done: true })
  expect(refused).toMatchObject({ type: 'refuse', refusal: { code: 'invalid_input' } })
})
