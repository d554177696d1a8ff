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

test('each request is asked, also of a program that gives its requests the same id', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const outside = new OutsideAgent({ options: ['one-id'] })
  const pid = await outside.start(reeve, ['ask t1 make it', 'odd'])
  await reeve.reply({ id: await pendingApproval(reeve), value: 'allow once' })
  await lastTurn(reeve, pid)
  await reeve.runAgent({ pid, text: 'ask t1 make it\nodd\nsay ready' })
  await reeve.reply({ id: await pendingApproval(reeve), value: 'reject once' })
  expect(await lastTurn(reeve, pid)).toMatchObject({ turn: 2, reason: 'finished', result: 'ready ' })
  expect(outside.heard('permission')).toEqual(['permission t1 allow_once', 'permission t1 reject_once'])
  await expect.poll(() => outside.heard('error')).toEqual(['error fs -32601', 'error fs -32601'])
})

test.for(['say gone on', 'die'])(
  'a question is withdrawn if its program waits no longer: %s',
  async (last) => {
    await using temp = new TempReeve()
    const reeve = await temp.embed()
    const outside = new OutsideAgent()
    const pid = await outside.start(reeve, ['ask-and-go t1 make it', 'wait go', last])
    const id = await pendingApproval(reeve)
    outside.present('go')
    await lastTurn(reeve, pid)
    await expect.poll(async () => (await reeve.approval({ id })).approval.state).toBe('withdrawn')
  },
)
