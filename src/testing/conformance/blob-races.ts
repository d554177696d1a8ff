import assert from 'node:assert/strict'
import { missingBlobs } from '../../core/blob/blob-missing.ts'
import type { Store } from '../../store/contract.ts'
import { seededRandom } from '../test-edges.ts'
import { type Behaves, OUTSIDE, pidOf, repeat, times } from './bench.ts'
import { bytesOf, hashOf, patterned, put, refer } from './blobs.ts'

const ROUNDS = 300
const SEED = 20_260
/** As many as `repeat` runs at once. */
const LANES = 10

/** Puts, commits and sweeps at the same time, over several connections. */
export function blobRaces(behaves: Behaves): void {
  behaves(
    'put, sweep and commit at once, 300 times over: a reference never points to a missing blob',
    async (bench) => {
      const [sweeping, other] = [await bench.open(), await bench.open()]
      const pidIn = (lane: number) => pidOf(`lane${lane}`)
      for (const lane of times(LANES)) await bench.register(OUTSIDE, { pid: pidIn(lane) })
      const referred = new Map<number, string>()
      const counts = { committed: 0, missing: 0 }
      await repeat(ROUNDS, async (round) => {
        const random = seededRandom(SEED + round)
        const lane = round % LANES
        const bytes = round % 50 === 1 ? patterned(1_048_576 + round) : bytesOf(`round ${round}`)
        const key = hashOf(bytes)
        const before = referred.get(lane)
        const where = `seed ${SEED + round}`
        const putAndCommit = async () => {
          const [putting, committing] = random() < 0.5 ? [bench.store, other] : [other, bench.store]
          await turns(random)
          await put(putting, bytes)
          if (round % 20 === 0) await sweeping.blobs.sweep(0)
          await turns(random)
          return commit(committing, lane, key, before)
        }
        const commit = async (store: Store, of: number, added: string, old: string | undefined) => {
          try {
            await store.write(refer(pidIn(of), { added: [added], removed: old === undefined ? [] : [old] }))
            counts.committed += 1
            return true
          } catch (error) {
            assert.deepEqual(missingBlobs(error), [added], where)
            counts.missing += 1
            return false
          }
        }
        const sweep = async () => {
          await turns(random)
          await sweeping.blobs.sweep(0)
        }
        const putAgain = async () => {
          await turns(random)
          if (random() < 0.3) await put(other, bytes)
        }
        const [isCommitted] = await Promise.all([putAndCommit(), sweep(), putAgain()])
        if (!isCommitted) return
        referred.set(lane, key)
        await sweeping.blobs.sweep(0)
        assert.deepEqual(await bench.store.blobs.get(key), bytes, where)
      })
      await sweeping.blobs.sweep(0)
      const kept = new Set(referred.values())
      for (const round of times(ROUNDS)) {
        const key = hashOf(round % 50 === 1 ? patterned(1_048_576 + round) : bytesOf(`round ${round}`))
        const isThere = (await bench.store.blobs.get(key)) !== null
        assert.equal(isThere, kept.has(key), `the blob of seed ${SEED + round}`)
      }
      assert.equal(await bench.store.blobs.sweep(0), 0)
      assert.equal(counts.committed + counts.missing, ROUNDS)
      assert.ok(counts.committed > 0 && counts.missing > 0, JSON.stringify(counts))
      const events = await Promise.all(times(LANES).map((lane) => bench.eventTypes(pidIn(lane))))
      assert.equal(events.flat().length, LANES + counts.committed, 'a failed commit wrote no event')
    },
  )
}

/** Some turns of the loop. */
async function turns(random: () => number): Promise<void> {
  for (let left = Math.floor(random() * 4); left > 0; left--)
    await new Promise<void>((resolve) => setImmediate(resolve))
}
