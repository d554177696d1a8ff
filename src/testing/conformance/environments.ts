import assert from 'node:assert/strict'
import type { Environment } from '../../core/environment/environment.ts'
import { MAX_SESSION_ENVIRONMENT_CHARS, MAX_SESSION_ENVIRONMENTS } from '../../core/environment/put.ts'
import { putEnvironment } from '../../kernel/environments.ts'
import { prune } from '../../kernel/prune.ts'
import { endSession, openSession } from '../../kernel/sessions.ts'
import { type Behaves, type Bench, codeOf, pidOf, refusalOf, TOOL, times } from './bench.ts'
import { snapshotBesidesAudit, snapshotOf } from './sound.ts'

/** How long environments are kept, and how many a session may have. */
export function environments(behaves: Behaves): void {
  const plain = (stage: string): Environment => ({
    variables: { STAGE: stage },
    policy: {},
    options: { appendsBasePath: true },
  })
  const used = (bench: Bench) => bench.store.ask({ ask: 'environments', usedBy: 'session:s1', limit: 1_000 })
  const isThere = async (bench: Bench, ref: string) =>
    (await bench.store.ask({ ask: 'environment', ref })) !== null
  const putMany = async (bench: Bench, count: number, name: string) => {
    const refs: string[] = []
    for (const index of times(count))
      refs.push(await putEnvironment(bench.edges, 'session:s1', plain(`${name} ${index}`)))
    return refs
  }
  const inEnvironment = (envRef: string) => ({ ...TOOL, owner: { session: 's1' }, envRef })
  const pruned = async (bench: Bench, text: string) => {
    await bench.performed('appended', { type: 'request_abandon', pid: pidOf(text), reason: 'gone' })
    assert.deepEqual(await prune(bench.edges, { pids: [pidOf(text)] }), [pidOf(text)])
  }

  behaves('a session has a bounded number of environments, and evicts the oldest', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    const refs = await putMany(bench, MAX_SESSION_ENVIRONMENTS + 3, 'n')
    assert.deepEqual(await used(bench), refs.slice(3))
    assert.deepEqual(await Promise.all(refs.map((ref) => isThere(bench, ref))), [
      ...times(3).map(() => false),
      ...times(MAX_SESSION_ENVIRONMENTS).map(() => true),
    ])
    const before = await snapshotOf(bench.store)
    assert.equal(await putEnvironment(bench.edges, 'session:s1', plain('n 5')), refs[5])
    assert.deepEqual([await used(bench), await snapshotOf(bench.store)], [refs.slice(3), before])
    const at = times(40).map((index) => putEnvironment(bench.edges, 'session:s1', plain(`at once ${index}`)))
    const there = await Promise.all((await Promise.all(at)).map((ref) => isThere(bench, ref)))
    assert.equal(there.filter(Boolean).length, MAX_SESSION_ENVIRONMENTS)
  })

  behaves(
    'an environment is kept while a process uses it, and removed when the process is pruned',
    async (bench) => {
      await openSession(bench.edges, 'host', 's1', null)
      const [ref = ''] = await putMany(bench, 1, 'of a process')
      await bench.register(inEnvironment(ref), { pid: pidOf('a') })
      await bench.register(inEnvironment(ref), { pid: pidOf('b') })
      await putMany(bench, MAX_SESSION_ENVIRONMENTS, 'later')
      assert.equal((await used(bench)).includes(ref), false)
      assert.equal(await isThere(bench, ref), true)
      for (const text of ['b', 'a']) {
        assert.equal(await isThere(bench, ref), true)
        await pruned(bench, text)
      }
      assert.equal(await isThere(bench, ref), false)
      assert.equal(
        refusalOf(await bench.tryRegister([{ request: inEnvironment(ref) }])),
        'environment_unknown',
      )
      // An equal environment is the same one.
      assert.equal(await putEnvironment(bench.edges, 'session:s1', plain('of a process 0')), ref)
      await bench.register(inEnvironment(ref), { pid: pidOf('c') })
      await bench.register({ ...TOOL, parent: pidOf('c') }, { pid: pidOf('d') })
      const inherited = await bench.store.ask({
        ask: 'environments',
        usedBy: `process:${pidOf('d')}`,
        limit: 2,
      })
      assert.deepEqual(inherited, [ref])
    },
  )

  behaves('an environment that the host stored stays when other users give it up', async (bench) => {
    await openSession(bench.edges, 'host', 's1', null)
    const [ref = ''] = await putMany(bench, 1, 'shared')
    await putEnvironment(bench.edges, 'host', plain('shared 0'))
    await bench.register(inEnvironment(ref), { pid: pidOf('a') })
    await putMany(bench, MAX_SESSION_ENVIRONMENTS, 'later')
    await pruned(bench, 'a')
    assert.equal(await isThere(bench, ref), true)
  })

  behaves('the environments of a session are removed with it', async (bench) => {
    const { kernel } = await bench.kernel({ id: 'k_one', serves: [] })
    await openSession(bench.edges, 'host', 's1', null)
    const [first = '', second = ''] = await putMany(bench, 2, 'n')
    await putEnvironment(bench.edges, 'host', plain('n 1'))
    await kernel.sessions.delete('host', 's1')
    assert.deepEqual(await used(bench), [])
    assert.deepEqual([await isThere(bench, first), await isThere(bench, second)], [false, true])
  })

  behaves(
    'a session stores environments of plain variables only, of bounded length, and only while it is open',
    async (bench) => {
      const put = (environment: Environment) => codeOf(putEnvironment(bench.edges, 'session:s1', environment))
      assert.equal(await put(plain('x')), 'session_unknown')
      await openSession(bench.edges, 'host', 's1', null)
      const before = await snapshotBesidesAudit(bench.store)
      assert.equal(await put({ ...plain('x'), variables: { KEY: { secret: 'KEY' } } }), 'denied')
      assert.equal(await put({ ...plain('x'), policy: { network: true } }), 'denied')
      assert.equal(await put({ ...plain('x'), options: { other: true } }), 'denied')
      assert.equal(await put(plain('x'.repeat(MAX_SESSION_ENVIRONMENT_CHARS))), 'payload_too_large')
      assert.deepEqual([await snapshotBesidesAudit(bench.store), await used(bench)], [before, []])
      await endSession(bench.edges, 'host', 's1')
      assert.equal(await put(plain('x')), 'session_ended')
    },
  )

  behaves(
    'an environment that is removed while a process begins to use it is kept, or the process is refused',
    async (bench) => {
      const other = bench.edgesOver(await bench.open())
      await openSession(bench.edges, 'host', 's1', null)
      for (const round of times(10)) {
        const [ref = '', ...later] = await putMany(bench, MAX_SESSION_ENVIRONMENTS, `round ${round}`)
        assert.equal(later.length, MAX_SESSION_ENVIRONMENTS - 1)
        // Both connections have it in their caches.
        const known = { ...inEnvironment(ref), name: `known ${round}` }
        await bench.register(known, { pid: pidOf(`a${round}`) }, other)
        await pruned(bench, `a${round}`)
        const [registered] = await Promise.all([
          bench.tryRegister([{ pid: pidOf(`b${round}`), request: inEnvironment(ref) }], other),
          putEnvironment(bench.edges, 'session:s1', plain(`round ${round} more`)),
        ])
        assert.equal(await isThere(bench, ref), Array.isArray(registered))
        if (Array.isArray(registered)) await pruned(bench, `b${round}`)
        else assert.equal(refusalOf(registered), 'environment_unknown')
      }
    },
  )
}
