import assert from 'node:assert/strict'
import type { Approval, PermissionRequest } from '../../core/approval/approval.ts'
import type { Rule } from '../../core/capability/rule.ts'
import type { Actor } from '../../core/process/record.ts'
import { openSession } from '../../kernel/sessions.ts'
import type { Store } from '../../store/contract.ts'
import { changeRules, ruleSet } from './authority-rows.ts'
import { type Behaves, type Bench, times } from './bench.ts'

type Permission = Approval & { readonly request: PermissionRequest & Approval['request'] }

/** An answer for every time settles the other requests that it covers, in the background. */
export function coveredRequests(behaves: Behaves): void {
  const deploy = (input: string) => ({ kind: 'tool', spec: { tool: 'deploy', input } }) as const
  const ask: Rule = { id: 'r1', effect: 'ask', rights: ['execute'], resource: 'tool:deploy' }
  const setUp = async (bench: Bench) => {
    for (const session of ['s1', 's2']) await openSession(bench.edges, 'host', session, null)
    await changeRules(bench.store, 'home', () => ({ ...ruleSet('home'), rules: [ask] }))
  }
  const requestOf = async (bench: Bench, input: string, by: Actor = 'session:s1'): Promise<Permission> => {
    const { gate } = (await bench.register(deploy(input), { actor: by })).record
    const approval = await bench.store.ask({ ask: 'approval', id: gate?.approval ?? '' })
    assert.ok(approval?.request.type === 'permission')
    return { ...approval, request: approval.request }
  }
  const alwaysOf = (request: Permission) => {
    const rule = request.request.alwaysRule
    assert.ok(rule)
    return { id: request.id, by: 'human:ada', answer: { type: 'approve', grant: 'always', rule } } as const
  }
  /** A connection on which lists of approvals are counted, and wait for `goOn`. */
  const slowLists = async (bench: Bench) => {
    const store = await bench.open()
    const gate = Promise.withResolvers<void>()
    const lists = { asked: 0 }
    const ask: Store['ask'] = async (question) => {
      if (question.ask === 'approvals') {
        lists.asked += 1
        await gate.promise
      }
      return store.ask(question)
    }
    const over: Store = {
      durability: store.durability,
      blobs: store.blobs,
      ask,
      write: (plan) => store.write(plan),
      onCommit: (listener) => store.onCommit(listener),
      close: () => store.close(),
    }
    return { over, lists, goOn: () => gate.resolve() }
  }

  behaves(
    'the caller of an answer for every time does not wait for the requests that it covers',
    async (bench) => {
      await setUp(bench)
      const [first, same] = [await requestOf(bench, 'a'), await requestOf(bench, 'a', 'session:s2')]
      const { over, goOn } = await slowLists(bench)
      const { kernel } = await bench.kernel({ id: 'k_one', serves: [] }, over)
      assert.equal((await kernel.approvals.answer(alwaysOf(first))).type, 'settled')
      assert.equal((await bench.store.ask({ ask: 'approval', id: same.id }))?.state, 'pending')
      goOn()
      await kernel.approvals.coveredSettled()
      assert.equal((await bench.store.ask({ ask: 'approval', id: same.id }))?.state, 'answered')
    },
  )

  behaves('many covered requests are answered in pages, also after a crash in between', async (bench) => {
    await setUp(bench)
    const first = await requestOf(bench, 'a')
    const many = Array.from({ length: 205 }, () => ({ request: deploy('a'), actor: 'session:s2' as const }))
    await bench.tryRegister(many)
    const { over, lists } = await slowLists(bench)
    const victim = await bench.kernel({ id: 'k_one', serves: [] }, over)
    assert.equal((await victim.kernel.approvals.answer(alwaysOf(first))).type, 'settled')
    bench.kill(victim)
    assert.equal(lists.asked <= 1, true)
    const pending = async () =>
      (await bench.store.ask({ ask: 'approvals', state: 'pending', after: null, limit: 500 })).items.length
    assert.equal(await pending(), 205)
    const { kernel } = await bench.kernel({ id: 'k_two', serves: [] })
    await kernel.sweep()
    await kernel.approvals.coveredSettled()
    assert.equal(await pending(), 0)
  })

  behaves('a sweep reads no request while no answer for every time is left to settle', async (bench) => {
    await setUp(bench)
    const first = await requestOf(bench, 'a')
    await requestOf(bench, 'b')
    const { over, lists, goOn } = await slowLists(bench)
    goOn()
    const { kernel } = await bench.kernel({ id: 'k_one', serves: [] }, over)
    const listsOfSweeps = async () => {
      const before = lists.asked
      for (const _ of times(3)) {
        await kernel.sweep()
        await kernel.approvals.coveredSettled()
      }
      return lists.asked - before
    }
    assert.equal(await listsOfSweeps(), 0)
    await kernel.approvals.answer(alwaysOf(first))
    await kernel.approvals.coveredSettled()
    assert.equal(await listsOfSweeps(), 0)
    const home = await bench.store.ask({ ask: 'ruleSet', subject: 'home' })
    assert.deepEqual(
      home?.rules.map(({ id }) => id),
      [ask.id, first.request.alwaysRule?.id],
    )
    assert.equal(home?.settling, undefined)
  })
}
