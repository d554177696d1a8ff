import { expect, test } from 'vitest'
import { embedWith } from '../../../src/embed/embed.ts'
import { TempReeve } from '../../temp-reeve.ts'
import { TEST_PRESET } from '../../test-preset.ts'
import { entries, hasOutput, lastTurn, OutsideAgent } from './outside-agent.ts'

test('a cancelled turn ends at once, and the program goes on with the next input when it has stopped', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const outside = new OutsideAgent()
  const pid = await outside.start(reeve, ['say begun', 'wait go', 'say never'])
  await hasOutput(reeve, pid)
  await expect.poll(() => outside.heard('waits')).toHaveLength(1)
  expect(await reeve.cancelTurn({ pid })).toMatchObject({ type: 'cancelled', turn: 1 })
  await reeve.runAgent({ pid, text: 'say next' })
  expect(await lastTurn(reeve, pid)).toMatchObject({ turn: 2, reason: 'finished', result: 'next ' })
  expect(outside.heard('session/cancel')).toHaveLength(1)
  expect(await entries(reeve, pid)).not.toContain('text never ')
})

test('a paused turn goes on with another prompt', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const outside = new OutsideAgent()
  const pid = await outside.start(reeve, ['say begun', 'tool t1 long', 'wait go'])
  await hasOutput(reeve, pid)
  await expect.poll(() => outside.heard('waits')).toHaveLength(1)
  expect(await reeve.pauseAgent({ pid })).toMatchObject({ type: 'paused' })
  await expect.poll(() => entries(reeve, pid)).toContain('cut paused')
  await reeve.resumeAgent({ pid })
  expect(await lastTurn(reeve, pid)).toMatchObject({ turn: 1, reason: 'finished' })
  expect(outside.heard('prompt').at(-1)).toBe('prompt ["Go on."]')
})

test('an input that steers is told when the program has answered', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const outside = new OutsideAgent()
  const pid = await outside.start(reeve, ['say begun', 'wait go'])
  await expect.poll(() => outside.heard('waits')).toHaveLength(1)
  await reeve.runAgent({ pid, text: 'say steered', mode: 'steer' })
  outside.present('go')
  expect(await lastTurn(reeve, pid)).toMatchObject({ turn: 1, result: 'steered ' })
})

test('the death of a program ends its turn honestly, and another one goes on', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const outside = new OutsideAgent({ options: ['resume'] })
  const pid = await outside.start(reeve, ['say begun', 'tool t1 long', 'die'])
  const turn = await lastTurn(reeve, pid)
  expect(turn).toMatchObject({ reason: 'crashed' })
  expect(turn?.message).toMatch(/is gone in mid-turn: it ended \(SIGKILL\)/)
  expect(await entries(reeve, pid)).toEqual([
    'input goal',
    'text begun ',
    'execute long',
    'cut crashed',
    'error Interrupted; its effect is unverified, check before repeating.',
    'turn 1 crashed',
  ])
  await reeve.runAgent({ pid, text: 'session' })
  expect(await lastTurn(reeve, pid)).toMatchObject({ reason: 'finished', result: 's1' })
  expect(outside.heard('session/')).toEqual(
    ['session/new', 'session/prompt', 'session/resume'].filter((one) => one !== 'session/prompt'),
  )
})

test.for([
  [['load'], 's1', 'session/load', 'loaded the session'],
  [[], 's2', 'session/new', 'knows of the session what its first prompt tells'],
] as const)('after a gap with %j the session is %s', async ([options, session, method, said]) => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const outside = new OutsideAgent({ options })
  const pid = await outside.start(reeve, ['say remember me'])
  await lastTurn(reeve, pid)
  const { processes } = await reeve.list({ filter: { parent: pid, kind: 'command' } })
  await reeve.kill({ pid: processes[0]?.record.pid ?? '' })
  await reeve.runAgent({ pid, text: 'session' })
  expect(await lastTurn(reeve, pid)).toMatchObject({ result: session })
  expect(outside.heard('session/').at(-1)).toBe(method)
  const { items } = await reeve.agentLog({ pid, last: 100 })
  expect(
    items.flatMap((item) => (item.type === 'agent_failed' ? [item.payload.message] : [])).join(),
  ).toContain(said)
  expect(await entries(reeve, pid)).not.toContain('text this was said before')
  if (session === 's2') expect(outside.heard('prompt').at(-1)).toContain('You: remember me')
})

test('a program that is not installed, wants a sign-in, or speaks another version is named with a remedy', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed({}, {})
  const messages: string[] = []
  const cases = [
    { model: 'acp/codex', env: true },
    { model: 'acp/scripted', options: ['locked'] },
    { model: 'acp/scripted', options: ['v2'] },
  ]
  for (const { model, options = [], env = false } of cases) {
    const outside = new OutsideAgent({ options })
    const { record } = await reeve.spawn({
      kind: 'agent',
      cwd: outside.folder,
      spec: { agent: 'other', model, goal: 'say hi', ...(env ? {} : { program: outside.program }) },
    })
    const turn = await lastTurn(reeve, record.pid)
    expect(turn?.reason).toBe('setup_failed')
    messages.push(turn?.message ?? '')
  }
  expect(messages[0]).toMatch(
    /codex could not be started: codex-acp .*npm install -g @agentclientprotocol\/codex-acp/,
  )
  expect(messages[1]).toMatch(/Authentication required \(-32000\)\. Sign in first.*Log in \(scripted login\)/)
  expect(messages[2]).toContain('speaks version 2 of the protocol')
  const unknown = { agent: 'other', model: 'acp/cursor', goal: 'say hi' }
  await expect(reeve.spawn({ kind: 'agent', spec: unknown })).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('Reeve knows no outside agent acp/cursor.'),
    remedy: expect.stringContaining('acp/claude-code'),
  })
})

test('a program that ends at once ends the turn with what it said, and the agent can be ended', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  for (const run of ['nosuchprogram', 'false', 'echo broken >&2; exit 3']) {
    const spec = { agent: 'other', model: 'acp/program', program: { run }, goal: 'say hi' }
    const { record } = await reeve.spawn({ kind: 'agent', cwd: temp.folder, spec })
    const turn = await lastTurn(reeve, record.pid)
    expect([turn?.reason, turn?.message]).toEqual([
      'setup_failed',
      expect.stringMatching(/ended before it answered initialize: it ended \(exit code (127|1|3)\)/),
    ])
    await reeve.shutDownAgent({ pid: record.pid })
    expect((await reeve.wait({ pid: record.pid })).type).toBe('ended')
  }
})

test('messages that are none, unknown updates, other requests and floods harm nothing', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const outside = new OutsideAgent()
  const pid = await outside.start(reeve, ['odd', 'count 20000', 'tool t1 x', 'done t1 y', 'say end'])
  expect(await lastTurn(reeve, pid)).toMatchObject({ reason: 'finished', result: 'end ' })
  const said = (await entries(reeve, pid)).filter((line) => line.startsWith('text '))
  const numbers = said
    .slice(0, -1)
    .map((line) => line.slice('text '.length))
    .join('')
    .split(',')
  expect(numbers.slice(0, -1)).toEqual(Array.from({ length: 20_000 }, (_, index) => String(index + 1)))
  expect(await entries(reeve, pid)).toContain('! program_output')
  expect(outside.heard('error')).toEqual(['error fs -32601'])
  await reeve.runAgent({ pid, text: 'fail overloaded' })
  expect(await lastTurn(reeve, pid)).toMatchObject({ reason: 'provider_error' })
  await reeve.runAgent({ pid, text: 'stop refusal' })
  expect(await lastTurn(reeve, pid)).toMatchObject({ reason: 'refused' })
})

test('a program that ignores a cancel is killed, and the next input starts another one', async () => {
  await using temp = new TempReeve()
  const commands = { home: temp.keeperHome.folder, environment: 'inherit', shell: '/bin/sh' } as const
  const times = { cancelMs: 300 }
  const reeve = await embedWith({ store: temp.store, commands, ...TEST_PRESET }, { outside: { times } })
  temp.keeper()
  const outside = new OutsideAgent({ options: ['load'] })
  const pid = await outside.start(reeve, ['say begun', 'hang'])
  await expect.poll(() => outside.heard('hangs')).toHaveLength(1)
  await hasOutput(reeve, pid)
  expect(await reeve.cancelTurn({ pid })).toMatchObject({ type: 'cancelled' })
  await reeve.runAgent({ pid, text: 'session' })
  expect(await lastTurn(reeve, pid)).toMatchObject({ turn: 2, reason: 'finished', result: 's1' })
  expect(outside.heard('initialize')).toHaveLength(2)
  const { processes } = await reeve.list({ filter: { parent: pid, kind: 'command' } })
  await reeve.shutDownAgent({ pid })
  for (const { record } of processes) await reeve.wait({ pid: record.pid })
  await reeve.close()
})

test.for([
  ['begins a new session', []],
  ['resumes its session', ['resume']],
] as const)(
  'the cost of an agent rises when its program %s and counts from nothing again',
  async ([_, options]) => {
    await using temp = new TempReeve()
    const reeve = await temp.embed()
    const outside = new OutsideAgent({ options })
    const pid = await outside.start(reeve, ['cost 0.5', 'say one'])
    const costs = async (cost: number) => {
      await lastTurn(reeve, pid)
      await expect.poll(async () => (await reeve.show({ pid })).agent?.totals.cost).toBe(cost)
    }
    await costs(0.5)
    await reeve.runAgent({ pid, text: 'cost 0.75\nsay two' })
    await costs(0.75)
    const { processes } = await reeve.list({ filter: { parent: pid, kind: 'command' } })
    await reeve.kill({ pid: processes[0]?.record.pid ?? '' })
    await reeve.runAgent({ pid, text: 'cost 0.25\nsay three' })
    await costs(1)
    await reeve.runAgent({ pid, text: 'cost 0.5\nsay four' })
    await costs(1.25)
  },
)
