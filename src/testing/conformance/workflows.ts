import assert from 'node:assert/strict'
import type { WaitRef } from '../../core/process/intent.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { RegistrationRequest } from '../../core/process/register.ts'
import type { StepEnded } from '../../core/process/step-event.ts'
import { claimAndStart } from '../../kernel/claim.ts'
import { performAll } from '../../kernel/perform.ts'
import { type Behaves, type Bench, pidOf, repeat, TOOL, times } from './bench.ts'
import { snapshotOf } from './sound.ts'

const WORKFLOW: RegistrationRequest = { kind: 'workflow', spec: { workflow: 'work' } }
const SERVES = [{ kind: 'workflow', targets: ['work'] }] as const
const GO: WaitRef = { on: 'signal', name: 'go', ordinal: 1, stepIndex: 1 }

export function workflows(behaves: Behaves): void {
  const pid = pidOf('a')

  behaves('a step is in the log once, and a repeated one gets the first answer', async (bench) => {
    const fence = await begun(bench, pid)
    await bench.performed('appended', { type: 'end_step', pid, fence, step: step(1, 'first') })
    const again = { type: 'end_step', pid, fence, step: step(1, 'second') } as const
    const { event } = await bench.performed('replayed', again)
    assert.deepEqual(event.payload, step(1, 'first'))
    // Steps that run at once end in any order.
    await bench.performed('appended', { type: 'end_step', pid, fence, step: step(3, 'third') })
    await bench.performed('appended', { type: 'end_step', pid, fence, step: step(2, 'second') })
    await bench.performed('replayed', { type: 'end_step', pid, fence, step: step(2, 'again') })
    assert.deepEqual(
      (await bench.events(pid)).filter(({ type }) => type === 'step_ended').map(({ replayKey }) => replayKey),
      ['step:1', 'step:3', 'step:2'],
    )
    assert.deepEqual((await bench.row(pid)).record.journal, { last: 3, attempts: 0 })
  })

  behaves('a step that is written ten times at once is in the log once', async (bench) => {
    const fence = await begun(bench, pid)
    const edges = await Promise.all(times(3).map(async () => bench.edgesOver(await bench.open())))
    const answers = await Promise.all(
      times(10).map((n) =>
        bench.perform({ type: 'end_step', pid, fence, step: step(1, n) }, edges[n % edges.length]),
      ),
    )
    assert.equal(answers.filter(({ type }) => type === 'appended').length, 1)
    assert.equal(answers.filter(({ type }) => type === 'replayed').length, 9)
  })

  behaves('a step is written by the holder alone, and by workflows alone', async (bench) => {
    const fence = await begun(bench, pid)
    const tool = await bench.register(TOOL, { pid: pidOf('t'), startBy: 'h1' })
    const before = await snapshotOf(bench.store)
    const stale = { ...fence, fence: fence.fence - 1 }
    await bench.refused('stale_fence', { type: 'end_step', pid, fence: stale, step: step(1, 1) })
    await bench.refused('stale_fence', { type: 'park', pid, fence: stale, waits: [] })
    await bench.refused('conflict', {
      type: 'end_step',
      pid: tool.record.pid,
      step: step(1, 1),
      fence: { holder: 'h1', fence: tool.fence },
    })
    assert.deepEqual(await snapshotOf(bench.store), before)
  })

  behaves('a parked process has no holder, and a signal makes it ready', async (bench) => {
    const fence = await begun(bench, pid)
    await park(bench, pid, fence, [GO])
    assert.deepEqual(await due(bench), { now: [], next: null })
    await bench.performed('appended', { type: 'signal', pid, name: 'other', id: '1', value: 1 })
    assert.deepEqual(await due(bench), { now: [], next: null })
    await bench.performed('appended', { type: 'signal', pid, name: 'go', id: '1', value: 1 })
    assert.deepEqual(await due(bench), { now: [pid], next: null })
    const [row] = await claimAndStart(bench.edges, [pid], 'h2')
    assert.equal(row?.record.status, 'running')
    assert.equal(row?.record.attempts, 1)
    assert.equal(row?.fence, fence.fence + 1)
  })

  behaves('a repeated park changes nothing, until a holder has claimed the process', async (bench) => {
    const fence = await begun(bench, pid)
    await park(bench, pid, fence, [GO])
    const before = await snapshotOf(bench.store)
    await bench.performed('kept', { type: 'park', pid, fence, waits: [GO] })
    assert.deepEqual(await snapshotOf(bench.store), before)
    await bench.performed('appended', { type: 'signal', pid, name: 'go', id: '1', value: 1 })
    await claimAndStart(bench.edges, [pid], 'h1')
    await bench.refused('stale_fence', { type: 'park', pid, fence, waits: [GO] })
  })

  behaves(
    'a process that is parked until a time is due then, and still waits when it starts',
    async (bench) => {
      const fence = await begun(bench, pid)
      const until = bench.clock.now() + 5_000
      const timer: WaitRef = { on: 'timer', name: 'sleep', ordinal: 1, stepIndex: 1 }
      await bench.performed('appended', { type: 'enter_wait', pid, fence, wait: GO, until: null })
      await bench.performed('appended', { type: 'enter_wait', pid, fence, wait: timer, until })
      await bench.performed('appended', { type: 'park', pid, fence, waits: [GO, timer] })
      assert.deepEqual(await due(bench), { now: [], next: until })
      assert.deepEqual(await claimAndStart(bench.edges, [pid], 'h2'), [])
      await bench.clock.advance(5_000)
      assert.deepEqual(await due(bench), { now: [pid], next: null })
      const [row] = await claimAndStart(bench.edges, [pid], 'h2')
      assert.equal(row?.record.status, 'waiting')
      assert.deepEqual(
        [row?.record.wait?.on, ...(row?.record.moreWaits ?? []).map(({ on }) => on)],
        ['signal', 'timer'],
      )
    },
  )

  behaves('a process is not parked if one of its waits has ended, or if it has to stop', async (bench) => {
    const fence = await begun(bench, pid)
    await bench.performed('appended', { type: 'enter_wait', pid, fence, wait: GO, until: null })
    await bench.performed('appended', { type: 'signal', pid, name: 'go', id: '1', value: 1 })
    await bench.refused('not_waiting', { type: 'park', pid, fence, waits: [GO] })
    const next = { ...GO, ordinal: 2, stepIndex: 2 }
    await bench.performed('appended', { type: 'enter_wait', pid, fence, wait: next, until: null })
    await bench.refused('not_waiting', { type: 'park', pid, fence, waits: [GO, next] })
    const stop = {
      type: 'stop',
      pid,
      how: 'cancel',
      reason: 'enough',
      cause: null,
      replayKey: 'stop',
    } as const
    await bench.performed('appended', stop)
    await bench.refused('stopping', { type: 'park', pid, fence, waits: [next] })
    assert.equal((await bench.row(pid)).holder, 'h1')
  })

  behaves('a workflow waits for several things at once, a tool for one', async (bench) => {
    const fence = await begun(bench, pid)
    const other: WaitRef = { on: 'signal', name: 'other', ordinal: 1, stepIndex: 2 }
    await bench.performed('appended', { type: 'enter_wait', pid, fence, wait: GO, until: null })
    await bench.performed('appended', { type: 'enter_wait', pid, fence, wait: other, until: null })
    await bench.performed('kept', { type: 'enter_wait', pid, fence, wait: other, until: null })
    await bench.performed('appended', { type: 'signal', pid, name: 'other', id: '1', value: 1 })
    const { record } = await bench.row(pid)
    assert.deepEqual([record.status, record.wait?.name, record.moreWaits], ['waiting', 'go', []])
    const tool = await bench.register(TOOL, { pid: pidOf('t'), startBy: 'h1' })
    const held = { pid: tool.record.pid, fence: { holder: 'h1', fence: tool.fence } }
    await bench.performed('appended', { type: 'enter_wait', ...held, wait: GO, until: null })
    await bench.refused('conflict', { type: 'enter_wait', ...held, wait: other, until: null })
  })

  behaves('the end of a child reaches its parked parent in the same transaction', async (bench) => {
    const fence = await begun(bench, pid)
    const child = await spawned(bench, pid, 'c')
    await parkOn(bench, pid, fence, child)
    const at = await bench.performed('appended', { type: 'stop', ...stopOf(child) })
    assert.equal(at.row.record.status, 'cancelled')
    const { record } = await bench.row(pid)
    assert.deepEqual([record.status, record.parked, record.wait], ['queued', true, null])
    const left = (await bench.events(pid)).at(-1)
    assert.deepEqual(
      [left?.type, left?.payload],
      [
        'wait_left',
        {
          on: 'child',
          name: child,
          ordinal: 1,
          stepIndex: 2,
          how: 'ended',
          signalSeq: null,
          value: at.row.record.outcome,
        },
      ],
    )
    assert.deepEqual(await due(bench), { now: [pid], next: null })
  })

  behaves('a parent that is being parked never misses the end of its child', async (bench) => {
    const [one, two] = [bench.edgesOver(await bench.open()), bench.edgesOver(await bench.open())]
    await repeat(20, async (round) => {
      const parent = pidOf(`p${round}`)
      const fence = await begun(bench, parent)
      const child = await spawned(bench, parent, `c${round}`)
      const wait: WaitRef = { on: 'child', name: child, ordinal: 1, stepIndex: 2 }
      await bench.performed('appended', { type: 'enter_wait', pid: parent, fence, wait, until: null })
      const asked = { actor: 'host', at: bench.clock.now() } as const
      await Promise.all([
        bench.perform({ type: 'stop', ...stopOf(child) }, two),
        performAll(one, [
          { type: 'await_end', pid: child, by: parent, ...asked },
          { type: 'park', pid: parent, fence, waits: [wait], ...asked },
        ]),
      ])
      const row = await bench.row(parent)
      if (row.record.parked) assert.deepEqual([row.record.status, row.record.wait], ['queued', null])
      else assert.deepEqual([row.holder, row.record.status, row.record.wait], ['h1', 'running', null])
    })
  })

  behaves('a workflow that makes progress may lose more holders than one that does not', async (bench) => {
    const limited = { ...WORKFLOW, limits: { attempts: 2 } }
    for (const [name, steps] of [
      ['on', true],
      ['off', false],
    ] as const) {
      const lost = pidOf(name)
      await bench.register(limited, { pid: lost })
      for (const round of times(4)) {
        const holder = `${name}${round}`
        await bench.announce(holder, 60_000)
        const [row] = await claimAndStart(bench.edges, [lost], holder)
        if (row === undefined) break
        const fence = { holder, fence: row.fence }
        if (steps)
          await bench.performed('appended', { type: 'end_step', pid: lost, fence, step: step(round + 1, 1) })
        // Only now: the kernels of earlier rounds still look for dead holders.
        bench.proof(holder, 'dead')
        await (await bench.kernel({ id: `r${name}${round}`, serves: [] })).kernel.sweep()
        await bench.clock.advance(60_000)
      }
    }
    assert.equal((await bench.row(pidOf('on'))).record.status, 'queued')
    const off = (await bench.row(pidOf('off'))).record
    assert.deepEqual([off.status, off.outcome?.reason], ['failed', 'attempts_exhausted'])
  })

  behaves('a workflow that makes progress while it is being given up is queued again', async (bench) => {
    const pid = pidOf('late')
    await bench.register({ ...WORKFLOW, limits: { attempts: 2 } }, { pid })
    const [row] = await claimAndStart(bench.edges, [pid], 'h1')
    const observed = { holder: 'h1', fence: row?.fence ?? 0 }
    await bench.performed('appended', {
      type: 'put_back',
      pid,
      observed,
      evidence: 'holder_dead',
      retryAt: 0,
    })
    const [again] = await claimAndStart(bench.edges, [pid], 'h2')
    const seen = { holder: 'h2', fence: again?.fence ?? 0 }
    // Recovery read the row before this step, and decided that no attempts are left.
    await bench.performed('appended', { type: 'end_step', pid, fence: seen, step: step(1, 1) })
    await bench.performed('appended', { type: 'give_up', pid, observed: seen, reason: 'attempts_exhausted' })
    const { record, holder } = await bench.row(pid)
    assert.deepEqual([record.status, record.outcome, holder], ['queued', null, null])
  })
}

async function begun(bench: Bench, pid: Pid) {
  const row = await bench.register(WORKFLOW, { pid, startBy: 'h1' })
  return { holder: 'h1', fence: row.fence }
}

async function spawned(bench: Bench, parent: Pid, name: string): Promise<Pid> {
  const child = await bench.register({ ...WORKFLOW, parent }, { pid: pidOf(name), stepIndex: 1 })
  const told = (await bench.events(parent)).at(-1)
  assert.deepEqual(told?.payload, { pid: child.record.pid, kind: 'workflow', label: 'work', stepIndex: 1 })
  return child.record.pid
}

async function park(
  bench: Bench,
  pid: Pid,
  fence: { holder: string; fence: number },
  waits: readonly WaitRef[],
): Promise<void> {
  for (const wait of waits)
    await bench.performed('appended', { type: 'enter_wait', pid, fence, wait, until: null })
  const { row } = await bench.performed('appended', { type: 'park', pid, fence, waits })
  assert.deepEqual([row.holder, row.record.status, row.record.parked], [null, 'waiting', true])
}

async function parkOn(bench: Bench, pid: Pid, fence: { holder: string; fence: number }, child: Pid) {
  await bench.performed('appended', { type: 'await_end', pid: child, by: pid })
  await bench.performed('kept', { type: 'await_end', pid: child, by: pid })
  await park(bench, pid, fence, [{ on: 'child', name: child, ordinal: 1, stepIndex: 2 }])
}

function stopOf(pid: Pid) {
  return { pid, how: 'kill', reason: 'enough', cause: null, replayKey: 'stop' } as const
}

function step(stepIndex: number, value: string | number): StepEnded {
  return { stepIndex, kind: 'step', name: 'do', began: 1, tries: 1, how: 'done', value }
}

/** The processes that can be claimed now, and when the next one can. */
async function due(bench: Bench) {
  const asked = { serves: SERVES, here: [], at: bench.clock.now() }
  return {
    now: await bench.store.ask({ ask: 'claimable', ...asked, limit: 10 }),
    next: await bench.store.ask({ ask: 'nextDue', ...asked }),
  }
}
