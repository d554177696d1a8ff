import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { embed } from 'reeve'
import { MAX_DENIALS } from '../../src/core/audit/window.ts'
import { withCleanUp } from './with-clean-up.ts'

export interface DenialSoakOptions {
  /** How many denied requests a session makes. */
  readonly denials: number
  readonly say: (line: string) => void
}

export interface DenialSoakReport {
  readonly denials: number
  /** Entries of the audit. */
  readonly entries: number
  /** The most that there may be after the time that it took. */
  readonly mostEntries: number
  readonly storeBytes: number
  /** Of the heap, after the first tenth and at the end. */
  readonly heapBytes: readonly [number, number]
  readonly problems: readonly string[]
}

/** Requests under way at once. */
const CALLERS = 64
const MIB = 1024 ** 2
/** More than a bounded store and its log need. */
const MAX_STORE_BYTES = 64 * MIB
const MAX_HEAP_GROWTH_BYTES = 64 * MIB

/** A session repeats denied requests: half of them are equal, and the others all differ. The audit must not grow with them. */
export async function soakDenials({ denials, say }: DenialSoakOptions): Promise<DenialSoakReport> {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-denials-'))
  const store = join(folder, 'reeve.db')
  const reeve = await embed({ store })
  return withCleanUp(
    async () => {
      const begun = Date.now()
      await reeve.openSession({ session: 's1' })
      await reeve.addRule({ rule: { effect: 'deny', resource: 'tool:**' } })
      const session = reeve.as('session:s1')
      let accepted = 0
      let next = 0
      let early = 0
      const ask = async () => {
        while (next < denials) {
          const number = next++
          const tool = number % 2 === 0 ? 'same' : `other-${number}`
          await session.spawn({ kind: 'tool', spec: { tool, input: number } }).then(
            () => (accepted += 1),
            () => undefined,
          )
          if (number === Math.floor(denials / 10)) early = heapBytes()
          if (number > 0 && number % 100_000 === 0) say(`${number} denials`)
        }
      }
      await Promise.all(Array.from({ length: CALLERS }, ask))
      const late = heapBytes()
      const minutes = Math.ceil((Date.now() - begun) / 60_000)
      const entries = await countEntries(reeve)
      await reeve.close()
      const storeBytes = statSync(store).size
      // In each window: the first of every sort, the totals of the window before, and the rule itself.
      const mostEntries = 1 + (minutes + 1) * (2 * MAX_DENIALS + 2)
      const problems = [
        ...(accepted > 0 ? [`${accepted} requests were accepted`] : []),
        ...(entries > mostEntries
          ? [`the audit has ${entries} entries, and at most ${mostEntries} fit`]
          : []),
        ...(storeBytes > MAX_STORE_BYTES ? [`the store has ${storeBytes} bytes`] : []),
        ...(late - early > MAX_HEAP_GROWTH_BYTES ? [`the heap grew from ${early} to ${late} bytes`] : []),
      ]
      return { denials, entries, mostEntries, storeBytes, heapBytes: [early, late], problems }
    },
    async () => {
      await reeve.close()
      rmSync(folder, { recursive: true, force: true })
    },
  )
}

/** Without garbage. */
function heapBytes(): number {
  collect()
  return process.memoryUsage().heapUsed
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

async function countEntries(reeve: Awaited<ReturnType<typeof embed>>): Promise<number> {
  const newest = await reeve.audit({ limit: 1 })
  return newest.entries[0]?.position ?? 0
}
