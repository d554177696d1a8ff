import assert from 'node:assert/strict'
import type { Ending } from '../../core/process/intent.ts'
import type { RegistrationRequest } from '../../core/process/register.ts'
import { refusal } from '../../core/refusal.ts'
import type { Keeping, Request } from '../../kernel/executor.ts'
import type { Store } from '../../store/contract.ts'
import type { Script } from '../test-kernel.ts'
import { holderNamed } from '../test-kernel.ts'
import { type Behaves, type Bench, codeOf, pidOf } from './bench.ts'

const COMMAND: RegistrationRequest = { kind: 'command', spec: { argv: ['sleep', '1000'] } }
const DETACHED: RegistrationRequest = { ...COMMAND, lifetime: 'detached' }
const SERVES = [{ kind: 'command', targets: null }] as const

/** Processes that a keeper holds: they outlive the kernel that started them, and their keeper. */
export function keeping(behaves: Behaves): void {
  const pid = pidOf('a')

  behaves(
    'a process that a keeper holds outlives its kernel, and the next kernel continues under the same fence',
    async (bench) => {
      const one = await kernelWith(bench, 'k_one', keeperNamed('kp_one'))
      await one.kernel.register([{ request: COMMAND, actor: 'host', pid }])
      assert.deepEqual((await one.begun(pid)).fence(), { holder: 'kp_one', fence: 1 })
      bench.kill(one)
      const two = await kernelWith(bench, 'k_two', keeperNamed('kp_one'))
      assert.deepEqual((await two.begun(pid)).fence(), { holder: 'kp_one', fence: 1 })
      assert.deepEqual(two.kernel.boot.adopted, [pid])
      two.finish(pid, { status: 'failed', exitCode: 7 })
      await two.kernel.waits.forEnd(pid, {})
      assert.equal((await bench.row(pid)).record.outcome?.exitCode, 7)
      assert.deepEqual(await bench.eventTypes(pid), ['registered', 'started', 'ended'])
    },
  )

  behaves('a kernel without access to a keeper leaves the keeper’s processes alone', async (bench) => {
    const one = await kernelWith(bench, 'k_one', keeperNamed('kp_one'))
    await one.kernel.register([{ request: COMMAND, actor: 'host', pid }])
    await one.begun(pid)
    bench.kill(one)
    bench.proof('kp_one', 'dead')
    const other = await bench.kernel({ id: 'k_other' })
    await other.kernel.sweep()
    const row = await bench.row(pid)
    assert.equal(row.record.status, 'running')
    assert.equal(row.holder, 'kp_one')
  })

  behaves(
    'the next keeper of a folder takes over the processes of the dead one, with fence + 1',
    async (bench) => {
      const one = await kernelWith(bench, 'k_one', keeperNamed('kp_one'))
      await one.kernel.register([{ request: COMMAND, actor: 'host', pid }])
      await one.begun(pid)
      bench.kill(one)
      const two = await kernelWith(bench, 'k_two', keeperNamed('kp_two'))
      assert.deepEqual((await two.begun(pid)).fence(), { holder: 'kp_two', fence: 2 })
      two.finish(pid, { status: 'abandoned', evidence: 'keeper_lost' })
      await two.kernel.waits.forEnd(pid, {})
      const { outcome } = (await bench.row(pid)).record
      assert.equal(outcome?.status, 'abandoned')
      assert.equal(outcome.evidence, 'keeper_lost')
      assert.equal(outcome.exitCode, null)
      assert.deepEqual(await bench.eventTypes(pid), ['registered', 'started', 'taken_over', 'ended'])
      assert.equal(await bench.store.ask({ ask: 'holder', id: 'kp_one' }), null)
    },
  )

  behaves(
    'when a keeper dies and its kernel lives, another keeper follows and the attempts go on',
    async (bench) => {
      const keeper = keeperNamed('kp_one')
      const one = await kernelWith(bench, 'k_one', keeper)
      await one.kernel.register([{ request: COMMAND, actor: 'host', pid }])
      const work = await one.begun(pid)
      await one.kernel.keepers.replaced(keeper, 'kp_one', keeperNamed('kp_two').holder)
      assert.deepEqual(work.fence(), { holder: 'kp_two', fence: 2 })
      assert.equal(one.executions(pid), 1)
      one.finish(pid)
      await one.kernel.waits.forEnd(pid, {})
      assert.equal((await bench.row(pid)).record.outcome?.status, 'completed')
    },
  )

  behaves('a process that is granted to a dying keeper goes to the next keeper', async (bench) => {
    const keeper = keeperNamed('kp_one')
    const { store, holdNextWrite } = holdable(await bench.open())
    const one = await bench.kernel({ id: 'k_one', keeping: keeper, serves: SERVES }, store)
    const goOn = holdNextWrite()
    const registering = one.kernel.register([{ request: COMMAND, actor: 'host', pid }])
    const changing = one.kernel.keepers.replaced(keeper, 'kp_one', keeperNamed('kp_two').holder)
    // When the change waits for nothing else, the row of the new keeper has been written.
    while ((await bench.store.ask({ ask: 'holder', id: 'kp_two' })) === null) await new Promise(setImmediate)
    goOn()
    await registering
    await changing
    assert.deepEqual((await one.begun(pid)).fence(), { holder: 'kp_two', fence: 2 })
    assert.equal(one.executions(pid), 1)
    assert.equal((await bench.row(pid)).holder, 'kp_two')
  })

  behaves(
    'an error of the executor does not end a process that a keeper holds: it is continued',
    async (bench) => {
      let runs = 0
      const script: Script = async () => {
        runs += 1
        if (runs === 1) throw new Error('the store was away')
        return { status: 'failed', exitCode: 3 }
      }
      const one = await kernelWith(bench, 'k_one', keeperNamed('kp_one'), script)
      await one.kernel.register([{ request: COMMAND, actor: 'host', pid }])
      while (bench.troubles.length === 0) await new Promise(setImmediate)
      assert.equal((await bench.row(pid)).record.status, 'running')
      bench.troubles.length = 0
      const ended = one.kernel.waits.forEnd(pid, {})
      while (runs < 2) {
        bench.clock.advance(100)
        await new Promise(setImmediate)
      }
      await ended
      assert.equal((await bench.row(pid)).record.outcome?.exitCode, 3)
    },
  )

  behaves(
    'a kill of a process that a keeper holds is settled by what its executor observed',
    async (bench) => {
      const heard: Request[] = []
      const script: Script = (work) =>
        new Promise<Ending>((resolve) => {
          work.onRequest((request) => {
            heard.push(request)
            if (request.type === 'stop' && request.how === 'kill')
              resolve({ status: 'cancelled', signal: 'SIGKILL', reason: 'killed' })
          })
        })
      const one = await kernelWith(bench, 'k_one', keeperNamed('kp_one'), script)
      await one.kernel.register([{ request: COMMAND, actor: 'host', pid }])
      await one.begun(pid)
      const asked = { pid, actor: 'host', at: bench.clock.now() } as const
      await one.kernel.perform({ ...asked, type: 'pause' })
      await one.kernel.perform({ ...asked, type: 'resume' })
      const stop = { ...asked, type: 'stop', cause: null } as const
      await one.kernel.perform({ ...stop, how: 'interrupt', reason: 'first', replayKey: 's1' })
      await one.kernel.perform({ ...stop, how: 'kill', reason: 'then', replayKey: 's2', graceMs: 5 })
      await one.kernel.waits.forEnd(pid, {})
      assert.deepEqual(
        heard.map((request) => (request.type === 'stop' ? [request.how, request.graceMs] : request.type)),
        ['pause', 'resume', ['interrupt', undefined], ['kill', 5]],
      )
      const { outcome } = (await bench.row(pid)).record
      assert.equal(outcome?.signal, 'SIGKILL')
      assert.equal(outcome.source, 'host')
    },
  )

  behaves('the next kernel carries out a stop that was requested while no kernel ran', async (bench) => {
    const one = await kernelWith(bench, 'k_one', keeperNamed('kp_one'))
    await one.kernel.register([{ request: COMMAND, actor: 'host', pid }])
    await one.begun(pid)
    bench.kill(one)
    await bench.performed('appended', {
      type: 'stop',
      pid,
      how: 'kill',
      reason: 'now',
      cause: null,
      replayKey: 's',
    })
    const heard: string[] = []
    const script: Script = async (work) => {
      work.onRequest((request) => heard.push(request.type))
      return { status: 'cancelled', reason: 'killed' }
    }
    const two = await kernelWith(bench, 'k_two', keeperNamed('kp_one'), script)
    await two.kernel.waits.forEnd(pid, {})
    assert.deepEqual(heard, ['stop'])
  })

  behaves(
    'a kernel that closes leaves its processes to the keeper, except those with the lifetime of the daemon',
    async (bench) => {
      const detached = pidOf('detached')
      const script: Script = (work) =>
        new Promise<Ending>((resolve, reject) => {
          work.onRequest(() => resolve({ status: 'cancelled', reason: 'lifetime' }))
          work.signal.addEventListener('abort', () => {
            if ((work.signal.reason as { why?: string }).why === 'shutdown') reject(work.signal.reason)
          })
        })
      const one = await kernelWith(bench, 'k_one', keeperNamed('kp_one'), script)
      await one.kernel.register([{ request: COMMAND, actor: 'host', pid }])
      await one.kernel.register([{ request: DETACHED, actor: 'host', pid: detached }])
      await Promise.all([one.begun(pid), one.begun(detached)])
      await one.kernel.close()
      assert.equal((await bench.row(pid)).record.outcome?.reason, 'lifetime')
      const left = await bench.row(detached)
      assert.equal(left.record.status, 'running')
      assert.equal(left.holder, 'kp_one')
      assert.ok(
        await bench.store.ask({ ask: 'holder', id: 'kp_one' }),
        'its row leads the next kernel to the keeper',
      )
    },
  )

  behaves('a full keeper refuses new processes, and still answers for its own', async (bench) => {
    const one = await kernelWith(bench, 'k_one', { ...keeperNamed('kp_one'), most: 1 })
    const first = { request: COMMAND, actor: 'host', pid } as const
    await one.kernel.register([first])
    assert.equal(await codeOf(one.kernel.register([{ ...first, pid: pidOf('b') }])), 'too_many_commands')
    const [again] = await one.kernel.register([first])
    assert.equal(again?.type, 'existing')
    assert.equal(await bench.store.ask({ ask: 'process', pid: pidOf('b') }), null)
  })

  behaves('the capacity of a keeper may change while it runs', async (bench) => {
    let most = 0
    const keeper = {
      ...keeperNamed('kp_one'),
      get most() {
        return most
      },
    }
    const { kernel } = await kernelWith(bench, 'k_one', keeper)
    const first = { request: COMMAND, actor: 'host', pid } as const
    assert.equal(await codeOf(kernel.register([first])), 'too_many_commands')
    most = 1
    assert.equal((await kernel.register([first]))[0]?.type, 'registered')
    assert.equal(await codeOf(kernel.register([{ ...first, pid: pidOf('b') }])), 'too_many_commands')
  })

  behaves('the program of a process is reported once, and only by the holder', async (bench) => {
    const one = await kernelWith(bench, 'k_one', keeperNamed('kp_one'))
    await one.kernel.register([{ request: COMMAND, actor: 'host', pid }])
    const work = await one.begun(pid)
    const program = { osPid: 4, startTime: '9', boot: 'b', group: 4, tree: 'marker', memoryBy: null } as const
    const said = { type: 'program_started', pid, program } as const
    await bench.refused('stale_fence', { ...said, fence: { holder: 'kp_one', fence: 7 } })
    await one.kernel.performAs(work, { type: 'program_started', program })
    await one.kernel.performAs(work, { type: 'program_started', program: { ...program, osPid: 5 } })
    assert.equal((await bench.row(pid)).record.program?.osPid, 4)
  })
}

function kernelWith(bench: Bench, id: string, keeping: Keeping, script?: Script) {
  return bench.kernel({ id, keeping, serves: SERVES, ...(script === undefined ? {} : { script }) })
}

/** A store whose next write waits until the test releases it. */
function holdable(inner: Store): { store: Store; holdNextWrite: () => () => void } {
  let held: Promise<void> | undefined
  const write: Store['write'] = async (plan) => {
    const before = held
    held = undefined
    await before
    return inner.write(plan)
  }
  const store = new Proxy(inner, {
    get(target, name) {
      if (name === 'write') return write
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const holdNextWrite = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    held = promise
    return resolve
  }
  return { store, holdNextWrite }
}

/** Keepers of one folder. */
function keeperNamed(id: string): Keeping {
  return {
    holder: { ...holderNamed(id), role: 'keeper', incarnation: 'home' },
    available: true,
    most: 10,
    full: refusal('too_many_commands', 'Full.', 'Wait.'),
    found: () => 'adopted',
  }
}
