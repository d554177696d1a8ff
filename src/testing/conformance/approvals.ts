import assert from 'node:assert/strict'
import type { Approval } from '../../core/approval/approval.ts'
import type { Actor } from '../../core/process/record.ts'
import { prune } from '../../kernel/prune.ts'
import { know, type Plan, type Questions } from '../../store/contract.ts'
import { approval, put, question, reply } from './authority-rows.ts'
import { type Behaves, type Bench, OUTSIDE, pidOf, times } from './bench.ts'

/** Approvals: records that people answer, oldest first. */
export function approvals(behaves: Behaves): void {
  const ask = (bench: Bench, ...asked: readonly Approval[]) =>
    put(bench.store, ...asked.map((one) => ({ type: 'approval', was: null, approval: one }) as const))
  const list = async (bench: Bench, wanted: Partial<Questions['approvals'][0]> = {}) =>
    (await bench.store.ask({ ask: 'approvals', after: null, limit: 100, ...wanted })).items.map(
      ({ id }) => id,
    )

  behaves('an approval is read as it was written, and keeps its place when it is answered', async (bench) => {
    const asked = approval('a1', {
      person: 'ada',
      expiresAt: 20,
      pushAt: 3,
      request: question('über "x"\u0000'),
    })
    await ask(bench, asked)
    await ask(bench, approval('a0'))
    assert.deepEqual(await bench.store.ask({ ask: 'approval', id: 'a1' }), asked)
    assert.equal(await bench.store.ask({ ask: 'approval', id: 'none' }), null)
    const answered = { ...asked, state: 'answered', answer: reply('human:ada') } as const
    await put(bench.store, { type: 'approval', was: asked, approval: answered })
    assert.deepEqual(await bench.store.ask({ ask: 'approval', id: 'a1' }), answered)
    assert.deepEqual(await list(bench), ['a1', 'a0'])
  })

  behaves(
    'approvals are listed oldest or newest first, by state, person and process, in pages',
    async (bench) => {
      await ask(bench, approval('z'), approval('y', { person: 'ada' }))
      await ask(bench, approval('x', { person: 'bob', pid: pidOf('b') }))
      await ask(bench, approval('w', { state: 'withdrawn' }))
      await ask(bench, approval('v', { person: 'ada', state: 'answered' }))
      await ask(bench, approval('u', { pid: pidOf('b') }))
      assert.deepEqual(await list(bench), ['z', 'y', 'x', 'w', 'v', 'u'])
      assert.deepEqual(await list(bench, { state: 'pending' }), ['z', 'y', 'x', 'u'])
      assert.deepEqual(await list(bench, { state: 'pending', person: 'ada' }), ['z', 'y', 'u'])
      assert.deepEqual(await list(bench, { person: 'bob' }), ['z', 'x', 'w', 'u'])
      assert.deepEqual(await list(bench, { pid: pidOf('b') }), ['x', 'u'])
      assert.deepEqual(await list(bench, { pid: pidOf('b'), person: 'ada', state: 'pending' }), ['u'])
      const found: string[] = []
      let after: number | null = null
      do {
        const page: { items: readonly Approval[]; next: number | null } = await bench.store.ask({
          ask: 'approvals',
          state: 'pending',
          after,
          limit: 2,
        })
        assert.ok(page.items.length <= 2)
        found.push(...page.items.map(({ id }) => id))
        after = page.next
      } while (after !== null)
      assert.deepEqual(found, ['z', 'y', 'x', 'u'])
      assert.deepEqual(await list(bench, { newestFirst: true }), ['u', 'v', 'w', 'x', 'y', 'z'])
      const newest = { ask: 'approvals', state: 'pending', newestFirst: true, limit: 3 } as const
      const first = await bench.store.ask({ ...newest, after: null })
      const second = await bench.store.ask({ ...newest, after: first.next })
      assert.deepEqual(
        [first, second].map(({ items }) => items.map(({ id }) => id)),
        [['u', 'x', 'y'], ['z']],
      )
      assert.equal(second.next, null)
    },
  )

  behaves(
    'the queue of a person begins with the highest priority, however many wait before',
    async (bench) => {
      const urgent = (id: string, priority: number, person: string | null = null) =>
        approval(id, { person, request: { ...question('Now?'), priority } })
      await ask(bench, approval('first'), urgent('low', -1), approval('second'), urgent('bob', 9, 'bob'))
      await ask(
        bench,
        urgent('high', 5, 'ada'),
        urgent('higher', 6),
        approval('over', { state: 'withdrawn' }),
      )
      const queue = async (person?: string, limit = 3) => {
        const asked = await bench.store.ask({
          ask: 'approvalQueue',
          limit,
          ...(person === undefined ? {} : { person }),
        })
        return [asked.approvals.map(({ id }) => id), asked.pending]
      }
      assert.deepEqual(await queue('ada'), [['higher', 'high', 'first'], 5])
      assert.deepEqual(await queue('ada', 10), [['higher', 'high', 'first', 'second', 'low'], 5])
      assert.deepEqual(await queue(undefined, 1), [['bob'], 6])
      assert.deepEqual(await queue(undefined, 0), [[], 6])
      const was = urgent('higher', 6)
      const answered = { ...was, state: 'answered', answer: reply('human:ada') } as const
      await put(bench.store, { type: 'approval', was, approval: answered })
      assert.deepEqual(await queue('ada', 1), [['high'], 4])
    },
  )

  behaves('pending approvals are due at their times, the earliest first', async (bench) => {
    const due = async (by: 'expiresAt' | 'pushAt' | undefined, at: number, limit = 100) => {
      const asked = by === undefined ? { at, limit } : { by, at, limit }
      return (await bench.store.ask({ ask: 'approvalsDue', ...asked })).map(({ id }) => id)
    }
    assert.equal(await bench.store.ask({ ask: 'nextApprovalDue' }), null)
    await ask(
      bench,
      approval('late', { expiresAt: 30, pushAt: 5 }),
      approval('soon', { expiresAt: 10 }),
      approval('same', { expiresAt: 10, pushAt: 4 }),
      approval('never'),
      approval('answered', { state: 'answered', expiresAt: 1, pushAt: 1 }),
    )
    assert.equal(await bench.store.ask({ ask: 'nextApprovalDue' }), 10)
    assert.equal(await bench.store.ask({ ask: 'nextApprovalDue', by: 'pushAt' }), 4)
    assert.deepEqual(await due(undefined, 9), [])
    assert.deepEqual(await due('expiresAt', 10), ['soon', 'same'])
    assert.deepEqual(await due('expiresAt', 1_000), ['soon', 'same', 'late'])
    assert.deepEqual(await due('expiresAt', 1_000, 1), ['soon'])
    assert.deepEqual(await due('pushAt', 5), ['same', 'late'])
    const was = approval('same', { expiresAt: 10, pushAt: 4 })
    await put(bench.store, { type: 'approval', was, approval: { ...was, pushAt: null } })
    assert.deepEqual(await due('pushAt', 5), ['late'])
    assert.deepEqual(await due('expiresAt', 10), ['soon', 'same'])
  })

  behaves('of several answers at once through several connections, one is recorded', async (bench) => {
    const stores = [bench.store, await bench.open(), await bench.open()]
    for (const round of times(10)) {
      const id = `a${round}`
      await ask(bench, approval(id))
      const answerAs = (person: Actor): Plan<Actor> =>
        function* () {
          const was = yield* know({ ask: 'approval', id })
          assert.ok(was)
          if (was.answer !== null) return { answer: was.answer.by, changes: [] }
          const answered = { ...was, state: 'answered', answer: reply(person) } as const
          return { answer: person, changes: [{ type: 'approval', was, approval: answered }] }
        }
      const answers = await Promise.all(
        times(12).map((index) => stores[index % 3]?.write(answerAs(`human:${index}`))),
      )
      assert.equal(new Set(answers).size, 1, `round ${round}`)
      const recorded = await bench.store.ask({ ask: 'approval', id })
      assert.equal(recorded?.answer?.by, answers[0])
    }
  })

  behaves('the approvals of a pruned process are removed with it, and no others', async (bench) => {
    for (const text of ['a', 'b']) {
      await bench.register(OUTSIDE, { pid: pidOf(text) })
      await bench.performed('appended', { type: 'request_abandon', pid: pidOf(text), reason: 'gone' })
      await ask(bench, approval(`of ${text}`, { pid: pidOf(text) }))
    }
    await ask(bench, approval('second', { pid: pidOf('a'), state: 'answered' }))
    await prune(bench.edges, { pids: [pidOf('a')] })
    assert.deepEqual(await list(bench), ['of b'])
    assert.equal(await bench.store.ask({ ask: 'approval', id: 'second' }), null)
  })
}
