import assert from 'node:assert/strict'
import { openSession } from '../../kernel/sessions.ts'
import { accepted, type Behaves, OUTSIDE, pidOf, repeat, times } from './bench.ts'

/** Concurrent registrations over several connections. */
export function races(behaves: Behaves): void {
  behaves(
    'twenty registrations of one pid at once give one row and no error, 200 times over',
    async (bench) => {
      const edges = [
        bench.edges,
        bench.edgesOver(await bench.open()),
        bench.edgesOver(await bench.open()),
        bench.edgesOver(await bench.open()),
      ]
      await repeat(200, async (round) => {
        const pid = pidOf(`r${round}`)
        const answers = await Promise.all(
          times(20).map(async (caller) => accepted(await bench.tryRegister([{ pid }], edges[caller % 4]))),
        )
        const types = answers.map(([answer]) => answer?.type)
        assert.equal(types.filter((type) => type === 'registered').length, 1, `round ${round}`)
        assert.equal(types.filter((type) => type === 'existing').length, 19, `round ${round}`)
      })
      const { live } = await bench.store.ask({ ask: 'activity', session: null, since: null })
      assert.equal(live, 200)
    },
  )

  behaves(
    'children registered at once through several connections all count with their parent',
    async (bench) => {
      const edges = [bench.edges, bench.edgesOver(await bench.open()), bench.edgesOver(await bench.open())]
      await openSession(bench.edges, 'host', 's1', null)
      await bench.register({ ...OUTSIDE, owner: { session: 's1' } }, { pid: pidOf('a') })
      const group = { id: 'g', size: 60 }
      await Promise.all(
        times(60).map((index) =>
          bench.register(
            { ...OUTSIDE, parent: pidOf('a'), group },
            { pid: pidOf(`c${index}`) },
            edges[index % 3],
          ),
        ),
      )
      assert.equal((await bench.row(pidOf('a'))).record.children, 60)
      const seats = (await bench.store.ask({ ask: 'group', id: 'session:s1 g' }))?.seats ?? []
      assert.equal(new Set(seats.map((seat) => seat?.pid)).size, 60)
      assert.deepEqual(await bench.store.ask({ ask: 'activity', session: 's1', since: null }), {
        live: 61,
        newestAt: bench.clock.now(),
      })
    },
  )

  behaves(
    'a stop of the parent and a new child at once are serialised: the child is refused, or stopped',
    async (bench) => {
      const other = bench.edgesOver(await bench.open())
      await repeat(100, async (round) => {
        const parent = pidOf(`p${round}`)
        await bench.register(OUTSIDE, { pid: parent })
        const stop = {
          type: 'stop',
          pid: parent,
          how: 'cancel',
          reason: 'race',
          cause: null,
          replayKey: 's',
        } as const
        const [child, stopped] = await Promise.all([
          bench.tryRegister([{ pid: pidOf(`c${round}`), request: { ...OUTSIDE, parent } }], other),
          bench.performed('appended', stop),
        ])
        const registered = Array.isArray(child)
        const row = await bench.row(parent)
        assert.equal(row.record.children, registered ? 1 : 0)
        // If the child came first, the stop has to be carried to it.
        assert.equal(stopped.row.carry, registered ? 'stop' : null)
      })
    },
  )

  behaves('of twenty registrations at once that keep the process of a name, one starts it', async (bench) => {
    const edges = [bench.edges, bench.edgesOver(await bench.open()), bench.edgesOver(await bench.open())]
    await openSession(bench.edges, 'host', 's1', null)
    await repeat(30, async (round) => {
      const owner = round % 2 === 0 ? {} : { session: 's1' }
      const request = { ...OUTSIDE, name: `web ${round}`, owner, ifRunning: 'keep' } as const
      const answers = await Promise.all(
        times(20).map(async (caller) =>
          accepted(
            await bench.tryRegister([{ pid: pidOf(`n${round}x${caller}`), request }], edges[caller % 3]),
          ),
        ),
      )
      const types = answers.map(([answer]) => answer?.type)
      assert.equal(types.filter((type) => type === 'registered').length, 1, `round ${round}`)
      assert.equal(types.filter((type) => type === 'running').length, 19, `round ${round}`)
      const pids = answers.map(([answer]) => (answer?.type === 'refused' ? null : answer?.row.record.pid))
      assert.equal(new Set(pids).size, 1, `round ${round}`)
    })
    const { live } = await bench.store.ask({ ask: 'activity', session: null, since: null })
    assert.equal(live, 30)
  })
}
