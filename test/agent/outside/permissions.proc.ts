import { expect, test } from 'vitest'
import { TempReeve } from '../../temp-reeve.ts'
import { entries, lastTurn, OutsideAgent, pendingApproval } from './outside-agent.ts'

test.for([
  ['a person allows once', { value: 'allow once' }, 'allow_once'],
  ['a person allows always', { value: 'allow always' }, 'allow_always'],
  ['a person rejects', { value: 'reject once' }, 'reject_once'],
  ['a person denies the question', null, 'reject_once'],
] as const)('a permission is asked in the queue of people: %s', async ([_, reply, chosen]) => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const outside = new OutsideAgent()
  const pid = await outside.start(reeve, ['ask t1 make it', 'done t1 made', 'say ready'])
  const id = await pendingApproval(reeve)
  const { approvals } = await reeve.approvals({ state: 'pending' })
  const asked = await reeve.show({ pid: approvals[0]?.pid ?? '' })
  expect(asked.identity.label).toBe('The agent scripted asks for a permission: make it')
  if (reply === null) await reeve.deny({ id })
  else await reeve.reply({ id, ...reply })
  expect(await lastTurn(reeve, pid)).toMatchObject({ reason: 'finished', result: 'ready ' })
  expect(outside.heard('permission')).toEqual([`permission t1 ${chosen}`])
  expect(await entries(reeve, pid)).toEqual(
    expect.arrayContaining(['execute make it', 'result made', 'text ready ']),
  )
})

test('a permission is withdrawn with its turn, and the program hears of it', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const outside = new OutsideAgent()
  const pid = await outside.start(reeve, ['ask t1 make it', 'say never'])
  const id = await pendingApproval(reeve)
  expect(await reeve.cancelTurn({ pid })).toMatchObject({ type: 'cancelled' })
  await expect.poll(() => outside.heard('permission')).toEqual(['permission t1 cancelled'])
  expect((await reeve.approval({ id })).approval.state).not.toBe('pending')
  expect(await lastTurn(reeve, pid)).toMatchObject({ reason: 'cancelled' })
  await reeve.runAgent({ pid, text: 'say next' })
  expect(await lastTurn(reeve, pid)).toMatchObject({ turn: 2, result: 'next ' })
})
