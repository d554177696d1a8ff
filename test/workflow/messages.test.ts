import { embed, type ToolHandler, type WorkflowFunction } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { tempStore } from '../temp-folder.ts'
import { logOf, onEachStore, outcomeOf, serve, start, storeAt } from './workflow-fixture.ts'

const SOON = { parkAfterMs: 1 }

/** Receives as many messages as its input says, and returns their values. */
const collect: WorkflowFunction<number> = async ({ receive }, count) => {
  const values: unknown[] = []
  for (let n = 0; n < count; n++) {
    const received = await receive()
    values.push(received.type === 'message' ? received.value : received.type)
  }
  return values
}

onEachStore('a parent and its child talk to each other', async (newStore) => {
  const worker: ToolHandler = async ({ sendMessage, receive }) => {
    const at = new Date(0)
    await sendMessage({ to: 'parent', channel: 'questions', correlationId: 'q1', value: { at } })
    const answer = await receive({ correlationId: 'q1', timeoutMs: 60_000 })
    return answer.type === 'message' ? [answer.value, answer.channel] : answer.type
  }
  const boss: WorkflowFunction = async ({ spawn, receive, sendMessage, wait }) => {
    const child = await spawn({ kind: 'tool', spec: { tool: 'worker' } })
    const from = `process:${child.pid}` as const
    const question = await receive({ channel: 'questions', from })
    if (question.type !== 'message') throw new Error('No question came.')
    await sendMessage({ to: from, value: 'another matter' })
    await sendMessage({ to: from, channel: 'answers', correlationId: 'q1', value: question.value })
    return (await wait(child)).result
  }
  const reeve = await serve(await newStore(), boss, {}, { tools: { worker } })
  const result = [{ at: { $reeve: 'Date', value: '1970-01-01T00:00:00.000Z' } }, 'answers']
  expect(await outcomeOf(reeve, await start(reeve))).toMatchObject({ status: 'completed', result })
})

onEachStore(
  'messages of one sender are received in order, before the call and after it',
  async (newStore) => {
    const reeve = await serve(await newStore(), collect)
    const pid = await start(reeve, 20)
    const to = `process:${pid}`
    for (let n = 0; n < 20; n++) await reeve.sendMessage({ to, value: n })
    const result = Array.from({ length: 20 }, (_, n) => n)
    expect(await outcomeOf(reeve, pid)).toMatchObject({ status: 'completed', result })
    expect((await reeve.notices({ scope: to })).notices).toEqual([])
  },
)

onEachStore('a parked workflow goes on only with a message that matches', async (newStore) => {
  let begun = 0
  const reeve = await serve(
    await newStore(),
    async ({ receive }) => {
      begun += 1
      const received = await receive({ channel: 'work', correlationId: 'c1' })
      return received.type === 'message' ? received.value : received.type
    },
    SOON,
  )
  const pid = await start(reeve)
  const to = `process:${pid}`
  await reeve.waitFor({ pid, types: ['parked'] })
  await reeve.sendMessage({ to, channel: 'work', value: 'no' })
  await reeve.sendMessage({ to, correlationId: 'c1', value: 'no' })
  const { wait, parked } = await reeve.show({ pid })
  expect([wait?.filter, parked, begun]).toEqual([{ channel: 'work', correlationId: 'c1' }, true, 1])
  await reeve.sendMessage({ to, channel: 'work', correlationId: 'c1', value: 'yes' })
  expect(await outcomeOf(reeve, pid)).toMatchObject({ status: 'completed', result: 'yes' })
  const { notices } = await reeve.notices({ scope: to })
  expect(notices.map(({ kind, payload }) => [kind, Object(payload).value])).toEqual([
    ['message', 'no'],
    ['message', 'no'],
  ])
})

onEachStore(
  'a receive that times out takes no message, and concurrent ones take one each',
  async (newStore) => {
    const reeve = await serve(await newStore(), async ({ receive }) => {
      const first = await receive({ channel: 'a', timeoutMs: 0 })
      const both = await Promise.all([receive({ channel: 'b' }), receive()])
      return [first, ...both].map((one) => (one.type === 'message' ? one.value : one.type))
    })
    const pid = await start(reeve)
    await expect.poll(async () => (await logOf(reeve, pid, 'wait_entered')).length).toBe(3)
    for (const [channel, value] of [
      ['x', 'any'],
      ['b', 'b'],
    ] as const)
      await reeve.sendMessage({ to: `process:${pid}`, channel, value })
    expect(await outcomeOf(reeve, pid)).toMatchObject({ result: ['timed_out', 'b', 'any'] })
  },
)

onEachStore(
  'a message is not sent again by a later attempt, and reaches the session and the person',
  async (newStore) => {
    const address = await newStore()
    const reeve = await serve(
      address,
      async ({ sendMessage, waitForSignal }) => {
        await sendMessage({ to: 'session:s1', value: 'begun' })
        await sendMessage({ to: 'human:host', value: 'begun', priority: 'interrupt' })
        await waitForSignal('go')
        return 'done'
      },
      SOON,
    )
    await reeve.openSession({ session: 's1' })
    const owner = { session: 's1' }
    const { record } = await reeve.spawn({ kind: 'workflow', spec: { workflow: 'work' }, owner })
    await reeve.waitFor({ pid: record.pid, types: ['parked'] })
    await reeve.send({ pid: record.pid, name: 'go' })
    await outcomeOf(reeve, record.pid)
    for (const scope of ['session:s1', 'human:host']) {
      const { notices } = await reeve.notices({ scope })
      expect(
        notices.filter(({ kind }) => kind === 'message').map(({ payload }) => Object(payload).value),
      ).toEqual(['begun'])
    }
  },
)

onEachStore('strangers are denied, and a refusal is an error of the step with its code', async (newStore) => {
  const reeve = await embed({
    store: await storeAt(await newStore()),
    tools: {
      async writes({ input, sendMessage }) {
        await sendMessage({ to: `process:${String(input)}` })
        return 'sent'
      },
    },
    workflows: {
      async writes({ sendMessage }, input) {
        const answer = sendMessage({ to: `process:${String(input)}` })
        return answer.then(
          () => 'sent',
          (error: { readonly code: string }) => error.code,
        )
      },
    },
  })
  onTestFinished(() => reeve.close())
  const other = await reeve.spawn({ kind: 'external', spec: { description: 'another' } })
  const input = other.record.pid
  const scope = `process:${input}`
  const tool = await reeve.spawn({ kind: 'tool', spec: { tool: 'writes', input } })
  expect(await outcomeOf(reeve, tool.record.pid)).toMatchObject({
    status: 'failed',
    reason: `process:${tool.record.pid} may not send a message to ${scope}.`,
  })
  const workflow = await reeve.spawn({ kind: 'workflow', spec: { workflow: 'writes', input } })
  expect(await outcomeOf(reeve, workflow.record.pid)).toMatchObject({ result: 'denied' })
  await expect(reeve.as('session:none').sendMessage({ to: scope })).rejects.toMatchObject({ code: 'denied' })
  await reeve.end({ pid: input, status: 'completed', replayKey: 'e' })
  await expect(reeve.sendMessage({ to: scope })).rejects.toMatchObject({ code: 'already_ended' })
  await expect(reeve.sendMessage({ to: 'session:s9' })).rejects.toMatchObject({ code: 'not_available' })
  await expect(reeve.sendMessage({ to: 'process:nobody' })).rejects.toMatchObject({ code: 'unknown_pid' })
  expect((await reeve.notices({ scope, all: true })).notices).toEqual([])
})

test('a message or a filter that is not valid is refused before anything is sent', async () => {
  const refused: unknown[] = []
  const reeve = await embed({
    store: tempStore(),
    tools: {
      async tries({ sendMessage, receive }) {
        for (const attempt of [
          () => sendMessage({ to: 'parent' }),
          () => sendMessage({ to: 'nobody' as never }),
          () => sendMessage({ to: 'human:host', channel: 'a b' }),
          () => sendMessage({ to: 'human:host', priority: 'high' as never }),
          () => sendMessage({ to: 'human:host', value: new URL('http://a') as never }),
          () => receive({ chanel: 'a' } as never),
          () => receive({ correlationId: '' }),
        ])
          await attempt().catch((error: { readonly code: string }) => refused.push(error.code))
        return null
      },
    },
  })
  onTestFinished(() => reeve.close())
  const { record } = await reeve.spawn({ kind: 'tool', spec: { tool: 'tries' } })
  await outcomeOf(reeve, record.pid)
  expect(refused).toEqual([
    ...Array.from({ length: 4 }, () => 'invalid_input'),
    'unstorable_value',
    'invalid_input',
    'invalid_input',
  ])
  expect((await reeve.events({ pid: record.pid })).events.map(({ type }) => type)).not.toContain(
    'message_sent',
  )
})
