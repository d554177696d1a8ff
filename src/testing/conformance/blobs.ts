import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { type BlobChanges, MAX_BLOB_BYTES } from '../../core/blob/blob.ts'
import { newEvent } from '../../core/process/decision.ts'
import { fold } from '../../core/process/fold.ts'
import type { Pid } from '../../core/process/pid.ts'
import { writeWithBlobs } from '../../kernel/blobs.ts'
import { prune } from '../../kernel/prune.ts'
import { know, type Plan, type Store } from '../../store/contract.ts'
import { type Behaves, type Bench, OUTSIDE, pidOf, times } from './bench.ts'
import { snapshotOf } from './sound.ts'

const MEBIBYTE = 1024 * 1024
const HOUR_MS = 60 * 60_000

/** Content under its hash, the references of processes to it, and its removal. */
export function blobs(behaves: Behaves): void {
  behaves('a blob is read as it was put, on every connection', async (bench) => {
    const other = await bench.open()
    const contents = [
      new Uint8Array(),
      Uint8Array.from({ length: 256 }, (_, byte) => byte),
      bytesOf('text with \u0000 and ∑'),
      patterned(64 * 1024),
      patterned(MEBIBYTE),
      patterned(MEBIBYTE + 1),
    ]
    await Promise.all(contents.map((bytes) => put(bench.store, bytes)))
    for (const bytes of contents) assert.deepEqual(await other.blobs.get(hashOf(bytes)), bytes)
    assert.equal(await bench.store.blobs.get(hashOf(bytesOf('unknown'))), null)
  })

  behaves('a blob of 20 MB is read as it was put', async (bench) => {
    const bytes = patterned(20_000_000)
    await put(bench.store, bytes)
    const found = await bench.store.blobs.get(hashOf(bytes))
    assert.equal(found?.length, 20_000_000)
    assert.equal(hashOf(found), hashOf(bytes))
    await put(bench.store, bytes)
    assert.equal(await bench.store.blobs.sweep(0), 1)
    assert.equal(await bench.store.blobs.get(hashOf(bytes)), null)
  })

  behaves('a blob does not change with the array that it was put from or read to', async (bench) => {
    const bytes = bytesOf('first')
    const key = await put(bench.store, bytes)
    bytes[0] = 0
    const found = await bench.store.blobs.get(key)
    found?.fill(0)
    assert.deepEqual(await bench.store.blobs.get(key), bytesOf('first'))
  })

  behaves('content under a wrong hash, or above the limit, is not stored', async (bench) => {
    const key = hashOf(bytesOf('content'))
    const refuses = (code: string, given: string, bytes: Uint8Array) =>
      assert.rejects(bench.store.blobs.put(given, bytes), { code })
    await refuses('invalid_input', key, bytesOf('other content'))
    await refuses('invalid_input', key.toUpperCase(), bytesOf('content'))
    await refuses('invalid_input', 'content', bytesOf('content'))
    await refuses('payload_too_large', key, new Uint8Array(MAX_BLOB_BYTES + 1))
    assert.equal(await bench.store.blobs.get(key), null)
    assert.equal(await bench.store.blobs.sweep(0), 0)
  })

  behaves('a sweep deletes blobs of the given age, and they can be put again', async (bench) => {
    const keys = await Promise.all(times(3).map((index) => put(bench.store, bytesOf(`n${index}`))))
    assert.equal(await bench.store.blobs.sweep(HOUR_MS), 0)
    assert.deepEqual(await areThere(bench, keys), [true, true, true])
    assert.equal(await bench.store.blobs.sweep(0), 3)
    assert.deepEqual(await areThere(bench, keys), [false, false, false])
    await put(bench.store, bytesOf('n1'))
    assert.deepEqual(await areThere(bench, keys), [false, true, false])
  })

  behaves('more than a page of blobs is swept, between those with a reference', async (bench) => {
    await bench.register(OUTSIDE, { pid: pidOf('a') })
    const keys = await Promise.all(times(1_100).map((index) => put(bench.store, bytesOf(`n${index}`))))
    const kept = keys.filter((_, index) => index % 3 === 0)
    await bench.store.write(refer(pidOf('a'), { added: kept }))
    assert.equal(await bench.store.blobs.sweep(0), keys.length - kept.length)
    assert.deepEqual(
      await areThere(bench, keys),
      keys.map((_, index) => index % 3 === 0),
    )
  })

  behaves('the age of a blob begins again when it is put again', async (bench) => {
    // On a busy machine the time between the second put and the sweep may be longer than the first wait.
    for (let waitMs = 50; ; waitMs *= 2) {
      const [renewed, old] = [bytesOf(`renewed ${waitMs}`), patterned(70_000 + waitMs)]
      const keys = await Promise.all([put(bench.store, renewed), put(bench.store, old)])
      await new Promise((resolve) => setTimeout(resolve, waitMs))
      await put(bench.store, renewed)
      await bench.store.blobs.sweep(waitMs / 2)
      const there = await areThere(bench, keys)
      assert.equal(there[1], false, 'the blob that was put once is old')
      if (there[0] === true) return
      assert.ok(waitMs < 20_000, 'the blob that was put twice is not old')
    }
  })

  behaves(
    'a blob stays while a process refers to it, also an ended one, until it is pruned',
    async (bench) => {
      for (const text of ['a', 'b']) await bench.register(OUTSIDE, { pid: pidOf(text) })
      const [both, one] = await Promise.all([
        put(bench.store, bytesOf('both')),
        put(bench.store, bytesOf('one')),
      ])
      await bench.store.write(refer(pidOf('a'), { added: [both, one] }))
      await bench.store.write(refer(pidOf('b'), { added: [both] }))
      await bench.store.write(refer(pidOf('b'), { added: [both] }))
      assert.equal(await bench.store.blobs.sweep(0), 0)
      await bench.performed('appended', { type: 'request_abandon', pid: pidOf('a'), reason: 'gone' })
      assert.equal(await bench.store.blobs.sweep(0), 0)
      assert.deepEqual(await prune(bench.edges, { pids: [pidOf('a')] }), [pidOf('a')])
      assert.deepEqual(await areThere(bench, [both, one]), [true, true])
      assert.equal(await bench.store.blobs.sweep(0), 1)
      assert.deepEqual(await areThere(bench, [both, one]), [true, false])
      await bench.store.write(refer(pidOf('b'), { removed: [both] }))
      assert.equal(await bench.store.blobs.sweep(0), 1)
      assert.deepEqual(await areThere(bench, [both, one]), [false, false])
    },
  )

  behaves('references of plans in one turn are applied in their order', async (bench) => {
    await bench.register(OUTSIDE, { pid: pidOf('a') })
    const [kept, dropped] = await Promise.all([
      put(bench.store, bytesOf('kept')),
      put(bench.store, bytesOf('dropped')),
    ])
    await Promise.all([
      bench.store.write(refer(pidOf('a'), { added: [kept, dropped] })),
      bench.store.write(refer(pidOf('a'), { removed: [kept, dropped] })),
      bench.store.write(refer(pidOf('a'), { added: [kept] })),
    ])
    assert.equal(await bench.store.blobs.sweep(0), 1)
    assert.deepEqual(await areThere(bench, [kept, dropped]), [true, false])
  })

  behaves(
    'a commit that refers to a missing blob writes nothing, and fails no other plan of its turn',
    async (bench) => {
      for (const text of ['a', 'b']) await bench.register(OUTSIDE, { pid: pidOf(text) })
      const there = await put(bench.store, bytesOf('there'))
      const missing = [hashOf(bytesOf('missing')), hashOf(bytesOf('also missing'))].sort()
      const before = await snapshotOf(bench.store)
      const failing = refer(pidOf('a'), { added: [there, ...missing] })
      await assert.rejects(bench.store.write(failing), { code: 'blob_missing' })
      assert.deepEqual(await snapshotOf(bench.store), before)
      const [first, refused, last] = await Promise.allSettled([
        bench.store.write(refer(pidOf('b'), { added: [there] })),
        bench.store.write(failing),
        bench.store.write(refer(pidOf('b'), {})),
      ])
      assert.deepEqual([first.status, refused.status, last.status], ['fulfilled', 'rejected', 'fulfilled'])
      assert.deepEqual(
        refused.status === 'rejected' && [...refused.reason.details.hashes].sort(),
        missing,
        'the error names the missing blobs',
      )
      assert.deepEqual(await bench.eventTypes(pidOf('a')), ['registered'])
      assert.deepEqual(await bench.eventTypes(pidOf('b')), ['registered', 'cwd_changed', 'cwd_changed'])
      await bench.store.write(refer(pidOf('b'), { removed: [there] }))
      assert.equal(await bench.store.blobs.sweep(0), 1, 'the failed commit left no reference')
    },
  )

  behaves('a blob that is swept between its put and its commit is put again', async (bench) => {
    await bench.register(OUTSIDE, { pid: pidOf('a') })
    const content = { hash: hashOf(bytesOf('content')), bytes: bytesOf('content') }
    let writes = 0
    const write = async (added: readonly string[]) => {
      writes += 1
      if (writes === 1) await bench.store.blobs.sweep(0)
      await bench.store.write(refer(pidOf('a'), { added }))
    }
    await writeWithBlobs(bench.edges, [content], () => write([content.hash]))
    assert.deepEqual([writes, await areThere(bench, [content.hash])], [2, [true]])
    const unknown = hashOf(bytesOf('never put'))
    await assert.rejects(
      writeWithBlobs(bench.edges, [content], () => write([unknown])),
      { code: 'blob_missing' },
    )
    assert.equal(writes, 3, 'a blob that was not given cannot be put again')
  })

  behaves('a closed store has no blobs', async (bench) => {
    const other = await bench.open()
    const key = await put(other, bytesOf('content'))
    await other.close()
    await assert.rejects(put(other, bytesOf('content')), { code: 'closed' })
    await assert.rejects(other.blobs.get(key), { code: 'closed' })
    await assert.rejects(other.blobs.sweep(0), { code: 'closed' })
    assert.deepEqual(await areThere(bench, [key]), [true])
  })
}

/** Changes the references of a process, together with an event of it. */
export function refer(pid: Pid, blobs: Partial<BlobChanges>): Plan<void> {
  return function* () {
    const was = yield* know({ ask: 'process', pid })
    if (was === null) throw new Error(`${pid} does not exist`)
    const { revision, updatedAt } = was.record
    const events = [newEvent({ type: 'cwd_changed', payload: { cwd: `/${revision}` } })]
    const { changes } = fold({
      pid,
      was,
      group: null,
      events,
      lease: undefined,
      actor: 'host',
      at: updatedAt,
    })
    return {
      answer: undefined,
      changes: changes.map((change) =>
        change.type === 'process' ? { ...change, blobs: { added: [], removed: [], ...blobs } } : change,
      ),
    }
  }
}

export async function put(store: Store, bytes: Uint8Array): Promise<string> {
  const key = hashOf(bytes)
  await store.blobs.put(key, bytes)
  return key
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

export function hashOf(bytes: Uint8Array): string {
  return hash('sha256', bytes)
}

/** Bytes in which no two pages are equal. */
export function patterned(size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  const words = new DataView(bytes.buffer)
  for (let at = 0; at + 4 <= size; at += 4) words.setUint32(at, Math.imul(at + size, 2_654_435_761))
  return bytes
}

function areThere(bench: Bench, keys: readonly string[]): Promise<boolean[]> {
  return Promise.all(keys.map(async (key) => (await bench.store.blobs.get(key)) !== null))
}
