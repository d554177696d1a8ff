import assert from 'node:assert/strict'
import { pathsInSpec } from '../../core/lien/lien.ts'
import type { Pid } from '../../core/process/pid.ts'
import { isRefusal } from '../../core/refusal.ts'
import { claimAndStart } from '../../kernel/claim.ts'
import type { Edges } from '../../kernel/edges.ts'
import { recover } from '../../kernel/recover.ts'
import { type Behaves, type Bench, pidOf, refusalOf, repeat } from './bench.ts'
import { snapshotOf } from './sound.ts'

const HOST = 'laptop'

/** Paths that agents hold: one row per host, which registrations and ends change. */
export function liens(behaves: Behaves): void {
  const lead = pidOf('lead')
  const [one, two] = [pidOf('n1'), pidOf('n2')]

  behaves('an agent holds its paths from its registration until its end', async (bench) => {
    await lent(bench, lead, one, ['/w/src'])
    assert.deepEqual(await held(bench), [[one, ['/w/src']]])
    await bench.performed('appended', { type: 'stop', pid: one, how: 'cancel', ...NO_CAUSE })
    assert.deepEqual(await held(bench), [])
  })

  behaves('a path that an agent holds is refused to another, and nothing is changed', async (bench) => {
    await lent(bench, lead, one, ['/w/src'])
    for (const paths of [['/w/src'], ['/w/src/a'], ['/w'], ['/w/docs', '/w/src/a']]) {
      const before = await snapshotOf(bench.store)
      const refused = await bench.tryRegister([child(lead, two, paths)])
      assert.equal(refusalOf(refused), 'path_held')
      assert.ok(isRefusal(refused) && refused.message.startsWith(`${one} (n1) has src until it ends`))
      assert.deepEqual(await snapshotOf(bench.store), before)
    }
    await lent(bench, lead, two, ['/w/srcs', '/w/docs'])
  })

  behaves('of two agents that ask for src and src/a at once, one gets it', async (bench) => {
    await agent(bench, lead)
    const others = bench.edgesOver(await bench.open())
    await repeat(15, async (round) => {
      const pids = [pidOf(`a${round}x`), pidOf(`b${round}x`)] as const
      const folder = `/w/${round}`
      const asked: readonly [Edges, Pid, string][] = [
        [bench.edges, pids[0], `${folder}/src`],
        [others, pids[1], `${folder}/src/a`],
      ]
      const answers = await Promise.all(
        asked.map(([edges, pid, path]) => bench.tryRegister([child(lead, pid, [path])], edges)),
      )
      const refused = answers.filter(isRefusal)
      assert.deepEqual(
        refused.map(({ code }) => code),
        ['path_held'],
      )
      const holders = (await held(bench)).filter(([, paths]) => paths[0]?.startsWith(`${folder}/`))
      assert.equal(holders.length, 1)
    })
  })

  behaves('agents of one request collide as those of two', async (bench) => {
    await agent(bench, lead)
    const refused = await bench.tryRegister([child(lead, one, ['/w/a']), child(lead, two, ['/w/a/b'])])
    assert.equal(refusalOf(refused), 'path_held')
    assert.deepEqual(await held(bench), [])
  })

  behaves('an agent lends what it holds and nothing else, and not twice', async (bench) => {
    await lent(bench, lead, one, ['/w/src'])
    const below = (pid: Pid, path: string) => bench.tryRegister([child(one, pid, [path])])
    assert.equal(refusalOf(await below(two, '/w/docs')), 'path_held')
    assert.equal(refusalOf(await below(two, '/w')), 'path_held')
    assert.equal(isRefusal(await below(two, '/w/src/a')), false)
    assert.equal(refusalOf(await below(pidOf('n3'), '/w/src')), 'path_held')
    assert.equal(isRefusal(await below(pidOf('n3'), '/w/src/b')), false)
  })

  behaves('each end gives back the paths of the agent that ended, and of no other', async (bench) => {
    await lent(bench, lead, one, ['/w/src'])
    const below = (pid: Pid, path: string) => bench.tryRegister([child(one, pid, [path])])
    await below(two, '/w/src/a')
    await bench.performed('appended', { type: 'stop', pid: one, how: 'cancel', ...NO_CAUSE })
    assert.deepEqual(await held(bench), [[two, ['/w/src/a']]])
    assert.equal(refusalOf(await bench.tryRegister([child(lead, pidOf('n3'), ['/w/src'])])), 'path_held')
    await bench.performed('appended', { type: 'stop', pid: two, how: 'cancel', ...NO_CAUSE })
    assert.deepEqual(await held(bench), [])
    await lent(bench, lead, pidOf('n3'), ['/w/src'])
  })

  behaves(
    'a silent holder keeps the paths of its agent, and the next holder gets them with it',
    async (bench) => {
      await lent(bench, lead, one, ['/w/src'], { goal: 'all' })
      await bench.announce('k_one', 1_000)
      assert.equal((await claimAndStart(bench.edges, [one], 'k_one')).length, 1)
      bench.clock.advance(10_000_000)
      assert.deepEqual(await held(bench), [[one, ['/w/src']]])
      assert.equal(refusalOf(await bench.tryRegister([child(lead, two, ['/w/src/a'])])), 'path_held')
      bench.proof('k_one', 'dead')
      await recover(bench.edges, {
        self: 'k_looker',
        backoff: { baseMs: 0, maxMs: 0 },
        closed: () => false,
      })
      assert.deepEqual(await held(bench), [[one, ['/w/src']]])
      await claimAndStart(bench.edges, [one], 'k_two')
      assert.ok((await bench.row(one)).fence >= 2)
      assert.deepEqual(await held(bench), [[one, ['/w/src']]])
    },
  )

  behaves('where names have no case, src and SRC are one path', async (bench) => {
    await agent(bench, lead)
    const folding = (pid: Pid, path: string) => child(lead, pid, [path], { foldsCase: true })
    await bench.tryRegister([folding(one, '/w/src')])
    assert.equal(refusalOf(await bench.tryRegister([folding(two, '/W/SRC/a')])), 'path_held')
    assert.deepEqual(await held(bench), [[one, ['/w/src']]])
  })
}

const NO_CAUSE = { reason: 'enough', cause: null, replayKey: 'stop' } as const

const AGENT = { kind: 'agent', spec: { agent: 'coder', model: 'scripted/demo' } } as const

const agent = (bench: Bench, pid: Pid) => bench.register({ ...AGENT, cwd: '/w' }, { pid })

interface Child {
  readonly foldsCase?: true
  readonly goal?: string
}

function child(parent: Pid, pid: Pid, paths: readonly string[], { foldsCase, goal }: Child = {}) {
  const given = pathsInSpec({ host: HOST, paths, ...(foldsCase === undefined ? {} : { foldsCase }) })
  const spec = { ...AGENT.spec, ...(goal === undefined ? {} : { goal }), paths: given }
  return { request: { ...AGENT, spec, parent, label: pid.slice(2).replace(/z+$/, '') }, pid }
}

/** Registers the parent, if it is new, and an agent below it with these paths. */
async function lent(
  bench: Bench,
  parent: Pid,
  pid: Pid,
  paths: readonly string[],
  more: Child = {},
): Promise<void> {
  const known = await bench.store.ask({ ask: 'process', pid: parent })
  if (known === null) await agent(bench, parent)
  const { request, ...given } = child(parent, pid, paths, more)
  await bench.register(request, given)
}

async function held(bench: Bench) {
  const row = await bench.store.ask({ ask: 'liens', host: HOST })
  return (row?.liens ?? []).map(({ holder, paths }) => [holder, paths] as const)
}
