import { expect, test } from 'vitest'
import { TempReeve } from '../../temp-reeve.ts'
import { entries, lastTurn, OutsideAgent, pendingApproval } from './outside-agent.ts'

test('a turn of an outside agent is a session like any other', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const outside = new OutsideAgent()
  const steps = ['think hm', 'say I look', 'tool t1 make', 'done t1 built', 'plan ship it', 'say all is well']
  const pid = await outside.start(reeve, steps)
  const turn = await lastTurn(reeve, pid)
  expect(turn).toMatchObject({ reason: 'finished', result: 'all is well ' })
  expect(await entries(reeve, pid)).toEqual([
    'input goal',
    'reasoning hm',
    'text I look ',
    'execute make',
    'result built',
    'plan undefined',
    'result 1. [>] ship it\n(0 done, 1 left)',
    'text all is well ',
    'turn 1 finished',
  ])
  const { processes } = await reeve.list({ filter: { parent: pid, kind: 'command' } })
  expect(processes.map(({ record }) => record.identity.label)).toEqual(['acp:scripted'])
  await reeve.runAgent({ pid, text: 'say again' })
  expect(await lastTurn(reeve, pid)).toMatchObject({ turn: 2, result: 'again ' })
  expect(outside.heard('session/new')).toHaveLength(1)
})

test('a call that is announced before its input is known is one entry, with its input', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const outside = new OutsideAgent()
  const steps = [
    ...['say first', 'announce t1', 'describe t1 make', 'done t1 built'],
    ...['announce t2', 'ask t2 make it', 'done t2 built'],
    ...['announce t3', 'announce t4', 'describe t4 test', 'done t3', 'done t4', 'announce t5'],
  ]
  const pid = await outside.start(reeve, steps)
  await reeve.reply({ id: await pendingApproval(reeve), value: 'allow once' })
  expect(await lastTurn(reeve, pid)).toMatchObject({ reason: 'finished' })
  expect(await entries(reeve, pid)).toEqual([
    'input goal',
    'text first ',
    'execute make',
    'result built',
    'execute make it',
    'result built',
    'execute Terminal',
    'execute test',
    'result completed',
    'result completed',
    'execute Terminal',
    'result The program reported no result.',
    'turn 1 finished',
  ])
})

test.for([
  ['as far as it takes them', [], ['notes']],
  ['also over HTTP', ['http'], ['notes', 'search']],
] as const)('a program gets the MCP servers of its agent: %s', async ([_, options, names]) => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const outside = new OutsideAgent({ options })
  const pid = await outside.start(reeve, ['say hi'], {
    mcpServers: {
      notes: { type: 'command', argv: ['notes', '--all'], env: { NOTES: 'here' } },
      search: { type: 'http', url: 'http://localhost:1/mcp', headers: { Accept: 'text/plain' } },
    },
  })
  await lastTurn(reeve, pid)
  const [line = ''] = outside.heard('servers')
  const servers: readonly { readonly name: string }[] = JSON.parse(line.slice('servers '.length))
  expect(servers.map(({ name }) => name)).toEqual(names)
  expect(servers[0]).toEqual({
    name: 'notes',
    command: 'notes',
    args: ['--all'],
    env: [{ name: 'NOTES', value: 'here' }],
  })
})

test('an allowance of model calls counts each answer of the model behind the program, and ends the turn', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const outside = new OutsideAgent()
  const steps = [1, 2, 3, 4].flatMap((n) => [`tool t${n} make it`, `done t${n} made`, `say step${n}`])
  const pid = await outside.start(reeve, steps, {}, { allowance: { modelCalls: 3 } })
  expect(await lastTurn(reeve, pid)).toMatchObject({ reason: 'limit:modelCalls', calls: 3 })
  expect((await reeve.budget({ pid })).used).toMatchObject({ modelCalls: 3 })
})
