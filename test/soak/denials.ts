import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import postgres from 'postgres'
import { type Embedded, embed } from 'reeve'
import { MAX_DENIALS } from '../../src/core/audit/window.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { startPostgres } from '../postgres-server.ts'
import type { SoakedStore } from './killed-soak.ts'
import { withCleanUp } from './with-clean-up.ts'

export interface DenialSoakOptions {
  /** How many denied requests a session makes. */
  readonly denials: number
  readonly store: SoakedStore
  readonly say: (line: string) => void
}

export interface DenialSoakReport {
  readonly seconds: number
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
const WINDOW_MS = 60_000

/** A session repeats denied requests: half of them are equal, and the others all differ. The audit must not grow with them. */
export async function soakDenials(options: DenialSoakOptions): Promise<DenialSoakReport> {
  const store = options.store === 'sqlite' ? sqliteStore() : await postgresStore()
  let reeve: Embedded | null = null
  return withCleanUp(
    async () => {
      reeve = await embed({ store: await store.open() })
      return denyAll(reeve, store, options)
    },
    async () => {
      await reeve?.close()
      await store.remove()
    },
  )
}

async function denyAll(
  reeve: Embedded,
  store: MeasuredStore,
  { denials, say }: DenialSoakOptions,
): Promise<DenialSoakReport> {
  const begun = Date.now()
  await reeve.openSession({ session: 's1' })
  await reeve.addRule({ rule: { effect: 'deny', resource: 'tool:**' } })
  const session = reeve.as('session:s1')
  const others: string[] = []
  let next = 0
  let early = 0
  const ask = async () => {
    while (next < denials) {
      const number = next++
      const tool = number % 2 === 0 ? 'same' : `other-${number}`
      const code = await session.spawn({ kind: 'tool', spec: { tool, input: number } }).then(
        () => 'accepted',
        (error: unknown) => String((error as { code?: unknown }).code ?? error),
      )
      if (code !== 'denied') others.push(code)
      if (number === Math.floor(denials / 10)) early = heapBytes()
      if (number > 0 && number % 100_000 === 0)
        say(
          `${number} denials in ${Math.round((Date.now() - begun) / 1000)} s, ${await countEntries(reeve)} entries`,
        )
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, ask))
  const late = heapBytes()
  const ms = Date.now() - begun
  const entries = await countEntries(reeve)
  await reeve.close()
  const storeBytes = await store.bytes()
  // In each window: the first of every sort, the totals of the window before, and the rule itself.
  const mostEntries = 1 + (Math.ceil(ms / WINDOW_MS) + 1) * (2 * MAX_DENIALS + 2)
  const problems = [
    ...(others.length > 0 ? [`${others.length} requests were not denied: ${others[0]}`] : []),
    ...(entries > mostEntries ? [`the audit has ${entries} entries, and at most ${mostEntries} fit`] : []),
    ...(storeBytes > MAX_STORE_BYTES ? [`the store has ${storeBytes} bytes`] : []),
    ...(late - early > MAX_HEAP_GROWTH_BYTES ? [`the heap grew from ${early} to ${late} bytes`] : []),
  ]
  return { seconds: ms / 1000, entries, mostEntries, storeBytes, heapBytes: [early, late], problems }
}

type OpenStore = Parameters<typeof embed>[0]['store']

/** A store of its own for a soak. */
interface MeasuredStore {
  open(): Promise<OpenStore>
  /** After it was closed. */
  bytes(): Promise<number>
  remove(): Promise<void>
}

function sqliteStore(): MeasuredStore {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-denials-'))
  const file = join(folder, 'reeve.db')
  return {
    open: async () => file,
    bytes: async () => statSync(file).size,
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function postgresStore(): Promise<MeasuredStore> {
  const server = await startPostgres()
  const schema = 'reeve_denials'
  let store: Awaited<ReturnType<typeof openPostgres>> | null = null
  return {
    async open() {
      store = await openPostgres(server.url, { schema })
      return store
    },
    async bytes() {
      await store?.close()
      const sql = postgres(server.url, { max: 1, onnotice: () => undefined })
      const [row] = await sql`select sum(pg_total_relation_size(oid))::bigint as bytes from pg_class
        where relkind = 'r' and relnamespace = ${schema}::regnamespace`
      await sql.end()
      return Number(row?.['bytes'])
    },
    async remove() {
      await store?.close()
      await server.stop()
    },
  }
}

/** Without garbage. */
function heapBytes(): number {
  collect()
  return process.memoryUsage().heapUsed
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

async function countEntries(reeve: Embedded): Promise<number> {
  const newest = await reeve.audit({ limit: 1 })
  return newest.entries[0]?.position ?? 0
}
