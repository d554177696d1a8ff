import assert from 'node:assert/strict'
import type { Json } from '../../core/json/json.ts'
import { MAX_OPEN_MESSAGES, type Message, type MessageFilter } from '../../core/message/message.ts'
import type { Intent } from '../../core/process/intent.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { Actor, Scope } from '../../core/process/record.ts'
import { performEach } from '../../kernel/perform.ts'
import { takeNotices } from '../../kernel/take-notices.ts'
import type { Script } from '../test-kernel.ts'
import { type Asking, type Behaves, type Bench, OUTSIDE, pidOf, RERUNNABLE, times } from './bench.ts'
import { snapshotBesidesAudit, snapshotOf } from './sound.ts'

/** Waits for messages that match these filters one after another, and ends with their values. */
function receives(...filters: readonly MessageFilter[]): Script {
  return async (work, kernel) => {
    const got: Json[] = []
    for (const [index, filter] of filters.entries()) {
      const wait = { on: 'message', name: 'any', ordinal: index + 1, filter } as const
      const answered = await kernel.waits.forAnswer(work, wait, null)
      got.push(answered.type === 'answered' ? (Object(answered.value) as Message).value : answered.type)
    }
    return { status: 'completed', result: got }
  }
}

export function messages(behaves: Behaves): void {
  const pid = pidOf('a')
  const messageOf = (given: Partial<Message>): Message => ({
    from: 'host',
    channel: null,
    correlationId: null,
    replyTo: null,
    priority: 'normal',
    value: null,
    ...given,
  })
  const asking = (given: Partial<Message>, key = JSON.stringify(given), to: Pid = pid): Asking => {
    const message = messageOf(given)
    return { type: 'message', pid: to, to: `process:${to}`, message, key, actor: message.from }
  }
  const send = (bench: Bench, given: Partial<Message>) => bench.performed('appended', asking(given))
  const open = (bench: Bench, scope: Scope = `process:${pid}`) =>
    bench.store.ask({ ask: 'notices', scope, after: 0, limit: 100, open: true })
  const ends = async (bench: Bench, kernel: Awaited<ReturnType<Bench['kernel']>>) => {
    await kernel.kernel.waits.forEnd(pid, {})
    return (await bench.row(pid)).record.outcome?.result
  }
  const waitingFor = async (bench: Bench, ordinal: number) => {
    const other = await bench.kernel({ id: `k_watch${ordinal}`, serves: [] })
    const isEntered = ({ type, payload }: { readonly type: string; readonly payload: Json }) =>
      type === 'wait_entered' && (payload as { ordinal: number }).ordinal === ordinal
    await other.kernel.waits.forEvent(pid, 0, isEntered, {})
  }

  behaves('waits take the messages of one sender in the order in which they were sent', async (bench) => {
    await bench.register(RERUNNABLE, { pid })
    for (const value of [1, 2]) await send(bench, { value })
    assert.deepEqual(
      (await open(bench)).map(({ kind, payload }) => [kind, payload]),
      [
        ['message', messageOf({ value: 1 })],
        ['message', messageOf({ value: 2 })],
      ],
    )
    const kernel = await bench.kernel({ id: 'k_one', script: receives({}, {}, {}) })
    await waitingFor(bench, 3)
    await send(bench, { value: 3 })
    assert.deepEqual(await ends(bench, kernel), [1, 2, 3])
    assert.deepEqual(await open(bench), [])
  })

  behaves('a wait on messages ends only with a message that its filter selects', async (bench) => {
    await bench.register(RERUNNABLE, { pid })
    await send(bench, { value: 'other channel', channel: 'other' })
    const filter = { channel: 'work', correlationId: 'c1', from: 'human:ada' } as const
    const kernel = await bench.kernel({ id: 'k_one', script: receives(filter) })
    await waitingFor(bench, 1)
    assert.deepEqual((await bench.row(pid)).record.wait?.filter, filter)
    await send(bench, { value: 'other sender', channel: 'work', correlationId: 'c1' })
    await send(bench, { value: 'no correlation id', channel: 'work', from: 'human:ada' })
    assert.equal((await bench.row(pid)).record.status, 'waiting')
    await send(bench, { value: 'this one', channel: 'work', correlationId: 'c1', from: 'human:ada' })
    assert.deepEqual(await ends(bench, kernel), ['this one'])
    assert.deepEqual(
      (await open(bench)).map(({ payload }) => (Object(payload) as Message).value),
      ['other channel', 'other sender', 'no correlation id'],
    )
  })

  behaves('a message that arrives while its receiver is down is received once', async (bench) => {
    const script = receives({}, {}, {})
    const one = await bench.kernel({ id: 'k_one', script })
    await one.kernel.register([{ request: RERUNNABLE, actor: 'host', pid }])
    await send(bench, { value: 'first' })
    await waitingFor(bench, 2)
    bench.kill(one)
    await send(bench, { value: 'second' })
    await send(bench, { value: 'third' })
    const two = await bench.kernel({ id: 'k_two', script })
    assert.deepEqual(await ends(bench, two), ['first', 'second', 'third'])
    assert.deepEqual(await open(bench), [])
  })

  behaves('a consumer that took a message loses it to a wait of the process', async (bench) => {
    await bench.register(RERUNNABLE, { pid })
    await send(bench, { value: 'one' })
    const scope = `process:${pid}` as const
    const taking = { scope, consumer: 'c', limit: 10, visibilityMs: 60_000 }
    assert.equal((await takeNotices(bench.edges, taking)).notices.length, 1)
    const kernel = await bench.kernel({ id: 'k_one', script: receives({}) })
    assert.deepEqual(await ends(bench, kernel), ['one'])
    assert.deepEqual((await takeNotices(bench.edges, { ...taking, consumer: 'd' })).notices, [])
  })

  behaves('a repeated key is one message, and with another content a conflict', async (bench) => {
    await bench.register(OUTSIDE, { pid })
    await bench.performed('appended', asking({ value: 1 }, 'key'))
    const before = await snapshotOf(bench.store)
    await bench.performed('replayed', asking({ value: 1 }, 'key'))
    await bench.refused('replay_conflict', asking({ value: 2 }, 'key'))
    assert.deepEqual(await snapshotOf(bench.store), before)
    await bench.performed('appended', asking({ value: 1, from: 'human:ada' }, 'key'))
  })

  behaves(
    'a message is refused from a stranger, to an unknown process, and if it is too large',
    async (bench) => {
      await bench.register(OUTSIDE, { pid })
      const other = pidOf('b')
      await bench.register(OUTSIDE, { pid: other })
      const before = await snapshotBesidesAudit(bench.store)
      const stranger: Actor = `process:${other}`
      await bench.refused('denied', asking({ value: 1, from: stranger }))
      await bench.refused('denied', asking({ value: 1, from: 'session:s1' }))
      await bench.refused('unknown_pid', asking({ value: 1 }, 'key', pidOf('c')))
      await bench.refused('payload_too_large', asking({ value: 'x'.repeat(70_000) }))
      assert.deepEqual(await snapshotBesidesAudit(bench.store), before)
    },
  )

  behaves('an inbox takes messages up to a limit, and more once some are taken', async (bench) => {
    await bench.register(OUTSIDE, { pid })
    const at = bench.clock.now()
    const intents = times(MAX_OPEN_MESSAGES).map((value) => ({ at, ...asking({ value }) }) as Intent)
    await performEach(bench.edges, intents)
    const before = await snapshotOf(bench.store)
    await bench.refused('inbox_full', asking({ value: 'more' }))
    assert.deepEqual(await snapshotOf(bench.store), before)
    const scope = `process:${pid}`
    const [first] = await open(bench)
    await bench.store.write(function* () {
      yield []
      const positions = [first?.position ?? 0]
      return { answer: null, changes: [{ type: 'notices_done', scope, positions, how: 'acknowledged' }] }
    })
    await send(bench, { value: 'more' })
  })

  behaves('a message to a person is a notice of its sender', async (bench) => {
    await bench.register(OUTSIDE, { pid })
    const message = messageOf({ from: `process:${pid}`, value: 'look' })
    const intent: Asking = { type: 'message', pid, to: 'human:host', message, key: 'k', actor: message.from }
    await bench.performed('appended', intent)
    await bench.performed('replayed', intent)
    await bench.refused('denied', { ...intent, to: 'human:eve' })
    const told = await open(bench, 'human:host')
    assert.deepEqual(
      told.map(({ pid: about, kind, payload }) => [about, kind, (Object(payload) as Message).value]),
      [[pid, 'message', 'look']],
    )
  })
}
