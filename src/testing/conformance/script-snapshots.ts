import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import type { Fence } from '../../core/lease/lease.ts'
import type { WaitRef } from '../../core/process/intent.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { RegistrationRequest } from '../../core/process/registration-request.ts'
import type { ScriptSnapshot } from '../../core/script/snapshot.ts'
import { claimAndStart } from '../../kernel/claim.ts'
import { type Behaves, type Bench, pidOf } from './bench.ts'

const SCRIPT: RegistrationRequest = {
  kind: 'tool',
  spec: { tool: 'agent.script' },
  recovery: 'rerunnable',
}

/** The stored states of scripts: one at a time, as a blob, as long as the script lives. */
export function scriptSnapshots(behaves: Behaves): void {
  const pid = pidOf('a')

  behaves('a script waits for several calls at once, and a function of a program for one', async (bench) => {
    const waits = [childWait('b'), childWait('c')]
    const fence = await begun(bench, pid, SCRIPT)
    for (const wait of waits)
      await bench.performed('appended', { type: 'enter_wait', pid, fence, wait, until: null })
    const [first, second] = waits
    if (first === undefined || second === undefined) throw new Error('Two waits')
    const asked = { pid: pidOf('x'), until: null } as const
    const other = await begun(bench, asked.pid, { ...SCRIPT, spec: { tool: 'served' } })
    await bench.performed('appended', { type: 'enter_wait', ...asked, fence: other, wait: first })
    await bench.refused('conflict', { type: 'enter_wait', ...asked, fence: other, wait: second })
  })

  behaves('the state of a parked script is kept until the next one, and until its end', async (bench) => {
    const texts = ['first', 'second']
    for (const text of texts) await put(bench, text)
    const kept = async () => {
      await bench.store.blobs.sweep(0)
      const found = await Promise.all(texts.map((text) => bench.store.blobs.get(keyOf(text))))
      return found.map((bytes) => bytes !== null)
    }
    const fence = await begun(bench, pid, SCRIPT)
    await parkOn(bench, pid, fence, 'one', snapshotOf('first'))
    assert.deepEqual((await bench.row(pid)).record.snapshot, snapshotOf('first'))
    assert.deepEqual(await kept(), [true, false])
    const second = await goOn(bench, pid, 'one')
    // The state of the first wait is that of the second one, unless that has a later one.
    await parkOn(bench, pid, second, 'two')
    assert.deepEqual(await kept(), [true, false])
    const third = await goOn(bench, pid, 'two')
    await put(bench, 'second')
    await parkOn(bench, pid, third, 'three', snapshotOf('second'))
    assert.deepEqual(await kept(), [false, true])
    const last = await goOn(bench, pid, 'three')
    assert.deepEqual((await bench.row(pid)).record.snapshot, snapshotOf('second'))
    await bench.performed('appended', {
      type: 'end',
      pid,
      fence: last,
      ending: { status: 'completed' },
      replayKey: 'end',
    })
    assert.equal((await bench.row(pid)).record.snapshot, undefined)
    assert.deepEqual(await kept(), [false, false])
  })

  behaves('a script is not parked with a state that is not in the store', async (bench) => {
    const fence = await begun(bench, pid, SCRIPT)
    await assert.rejects(parkOn(bench, pid, fence, 'one', snapshotOf('gone')), { code: 'blob_missing' })
    assert.equal((await bench.row(pid)).record.parked, false)
  })
}

async function begun(bench: Bench, pid: Pid, request: RegistrationRequest): Promise<Fence> {
  const row = await bench.register(request, { pid, startBy: 'h1' })
  return { holder: 'h1', fence: row.fence }
}

async function parkOn(
  bench: Bench,
  pid: Pid,
  fence: Fence,
  name: string,
  snapshot?: ScriptSnapshot,
): Promise<void> {
  const wait: WaitRef = { on: 'signal', name, ordinal: 1 }
  await bench.performed('appended', { type: 'enter_wait', pid, fence, wait, until: null })
  const more = snapshot === undefined ? {} : { snapshot }
  await bench.performed('appended', { type: 'park', pid, fence, waits: [wait], ...more })
}

async function goOn(bench: Bench, pid: Pid, name: string): Promise<Fence> {
  await bench.performed('appended', { type: 'signal', pid, name, id: name, value: null })
  const [row] = await claimAndStart(bench.edges, [pid], 'h1')
  return { holder: 'h1', fence: row?.fence ?? 0 }
}

function childWait(name: string): WaitRef {
  return { on: 'child', name: pidOf(name), ordinal: 1 }
}

function snapshotOf(text: string): ScriptSnapshot {
  return { hash: keyOf(text), bytes: text.length, engine: 'e', through: 1, calls: 2, time: 3, pending: [2] }
}

function keyOf(text: string): string {
  return hash('sha256', text, 'hex')
}

async function put(bench: Bench, text: string): Promise<void> {
  await bench.store.blobs.put(keyOf(text), Buffer.from(text))
}
