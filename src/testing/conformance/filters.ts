import assert from 'node:assert/strict'
import type { Filter } from '../../core/process/filter.ts'
import { openSession, openTurn } from '../../kernel/sessions.ts'
import { type Behaves, type Bench, OUTSIDE, pidOf, TOOL, times } from './bench.ts'
import { takes } from './signals.ts'

/** Every key of a filter, with one value and several, and the pages of filtered lists. */
export function filters(behaves: Behaves): void {
  const found = async (bench: Bench, filter: Filter) => {
    const { items } = await bench.store.ask({ ask: 'processes', filter, after: null, limit: 100 })
    return items.map(({ record }) => record.pid.slice(2).replace(/z+$/, ''))
  }

  const populate = async (bench: Bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    await openSession(bench.edges, 'host', 's2', null)
    await openTurn(bench.edges, 'host', { session: 's1', turn: 't1' })
    const registered = [
      [
        'a',
        { ...OUTSIDE, name: 'alpha', label: 'A', definition: { team: 'x', size: [1, 2], deep: { n: 1 } } },
      ],
      ['b', { ...OUTSIDE, name: 'beta', label: 'B', definition: ['list'], parent: pidOf('a') }],
      ['c', { ...TOOL, owner: { session: 's1', turn: 't1', toolCall: 'call' }, parent: pidOf('b') }],
      ['d', { kind: 'workflow', spec: { workflow: 'flow' }, owner: { session: 's2', terminal: 'tty' } }],
      [
        'e',
        {
          kind: 'command',
          spec: { run: 'ls' },
          owner: { extension: 'x', hook: 'h', sandbox: 'b', source: 's' },
        },
      ],
      ['f', { kind: 'agent', spec: { agent: 'coder' }, definition: 'text' }],
      ['g', { ...OUTSIDE, name: 'alpha' }],
    ] as const
    for (const [text, request] of registered) {
      await bench.register(request, { pid: pidOf(text) })
      bench.clock.advance(10)
    }
    await bench.performed('appended', { type: 'request_abandon', pid: pidOf('g'), reason: 'gone' })
    await bench.performed('appended', { type: 'pause', pid: pidOf('f') })
  }

  behaves(
    'each key of a filter selects, several values are alternatives, and all keys must match',
    async (bench) => {
      const begun = bench.clock.now()
      await populate(bench)
      const cases: readonly (readonly [filter: Filter, pids: readonly string[]])[] = [
        [{}, ['a', 'b', 'c', 'd', 'e', 'f']],
        [{ status: 'any' }, ['a', 'b', 'c', 'd', 'e', 'f', 'g']],
        [{ status: ['abandoned'] }, ['g']],
        [{ status: ['paused', 'abandoned'] }, ['f', 'g']],
        [{ status: [] }, []],
        [{ kind: ['external'] }, ['a', 'b']],
        [{ kind: ['tool', 'command', 'workflow'] }, ['c', 'd', 'e']],
        [{ label: ['A', 'B', 'work'] }, ['a', 'b', 'c']],
        [{ label: ['a'] }, []],
        [{ name: ['alpha'] }, ['a']],
        [{ name: ['alpha', 'beta'], status: 'any' }, ['a', 'b', 'g']],
        [{ definition: [{ team: 'x' }] }, ['a']],
        [{ definition: [{ deep: { n: 1 }, team: 'x' }] }, ['a']],
        [{ definition: [{ deep: { n: 2 } }] }, []],
        [{ definition: [{ size: [1] }] }, []],
        [{ definition: [['list'], 'text', { team: 'y' }] }, ['b', 'f']],
        [{ definition: [null] }, ['c', 'd', 'e']],
        [{ owner: { session: ['s1'] } }, ['c']],
        [{ owner: { session: ['s1', 's2'] } }, ['c', 'd']],
        [{ owner: { session: ['s1'], turn: ['t1'], toolCall: ['call'] } }, ['c']],
        [{ owner: { session: ['s2'], turn: ['t1'] } }, []],
        [{ owner: { terminal: ['tty'] } }, ['d']],
        [{ owner: { extension: ['x'], hook: ['h'], sandbox: ['b'], source: ['s', 't'] } }, ['e']],
        [{ owner: {} }, ['a', 'b', 'c', 'd', 'e', 'f']],
        [{ parent: [pidOf('a')] }, ['b']],
        [{ parent: [pidOf('a'), pidOf('b')] }, ['b', 'c']],
        [{ root: [pidOf('a')] }, ['a', 'b', 'c']],
        [{ root: [pidOf('d')], status: 'any' }, ['d']],
        [{ pid: [pidOf('f'), pidOf('a'), pidOf('unknown')] }, ['a', 'f']],
        [{ createdAfter: begun + 30 }, ['e', 'f']],
        [{ createdBefore: begun + 20 }, ['a', 'b']],
        [{ createdAfter: begun, createdBefore: begun + 30, kind: ['tool', 'external'] }, ['b', 'c']],
        [{ waiting: ['signal'] }, []],
        [{ waiting: true }, []],
        [{ waiting: false }, ['a', 'b', 'c', 'd', 'e', 'f']],
        [{ waiting: false, status: 'any' }, ['a', 'b', 'c', 'd', 'e', 'f', 'g']],
        [{ waiting: false, status: ['paused', 'abandoned'] }, ['f', 'g']],
        [{ waiting: false, status: ['abandoned'] }, ['g']],
        [{ waiting: true, status: 'any' }, []],
        [{ waiting: ['signal'], status: ['abandoned'] }, []],
      ]
      for (const [filter, pids] of cases)
        assert.deepEqual(await found(bench, filter), pids, JSON.stringify(filter))
    },
  )

  behaves('waiting processes are found by what they wait for', async (bench) => {
    const kernel = await bench.kernel({ id: 'k_one', script: takes('go') })
    for (const text of ['a', 'b']) {
      await kernel.kernel.register([{ request: TOOL, actor: 'host', pid: pidOf(text) }])
      await kernel.kernel.waits.forEvent(pidOf(text), 0, ({ type }) => type === 'wait_entered', {})
    }
    await bench.performed('appended', { type: 'signal', pid: pidOf('b'), name: 'go', id: '1', value: 1 })
    await kernel.kernel.waits.forEnd(pidOf('b'), {})
    assert.deepEqual(await found(bench, { waiting: ['signal'] }), ['a'])
    assert.deepEqual(await found(bench, { waiting: ['signal', 'timer'], status: 'any' }), ['a'])
    assert.deepEqual(await found(bench, { waiting: ['timer', 'child'] }), [])
    assert.deepEqual(await found(bench, { waiting: true, status: 'any' }), ['a'])
    assert.deepEqual(await found(bench, { waiting: false, status: 'any' }), ['b'])
    assert.deepEqual(await found(bench, { waiting: false }), [])
  })

  behaves('pages of a selective filter are full, in order, and end', async (bench) => {
    const pids = times(1_200).map((index) => pidOf(`n${index}`))
    await bench.tryRegister(
      pids.map((pid, index) => ({ pid, request: { ...OUTSIDE, definition: { rare: index % 100 === 7 } } })),
    )
    const wanted = times(12).map((index) => pids[index * 100 + 7])
    const seen: string[] = []
    const sizes: number[] = []
    let after: number | null = null
    do {
      const page: { items: readonly { record: { pid: string } }[]; next: number | null } =
        await bench.store.ask({ ask: 'processes', filter: { definition: [{ rare: true }] }, after, limit: 5 })
      sizes.push(page.items.length)
      seen.push(...page.items.map(({ record }) => record.pid))
      after = page.next
    } while (after !== null)
    assert.deepEqual(seen, wanted)
    assert.deepEqual(sizes, [5, 5, 2])
  })
}
