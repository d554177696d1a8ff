/**
 * Reeve as the peers' benchmark sees it, for its `--adapter`: embedded in the program that calls it, on a SQLite file,
 * with nothing set that a user would not have set. bench/README.md says what `--peers` expects of an adapter.
 */
import { join } from 'node:path'
import type { Reeve } from '../../src/index.ts'
import { embed } from './built-reeve.ts'
import { isAlive } from './proc.ts'

export const name = 'reeve'
export const version = async () => process.env['REEVE_BENCH_VERSION'] ?? 'unknown'
export const capabilities = { pty: true, alwaysPty: false, watch: true, disk: true, blockingStart: false }

export interface OpenOptions {
  readonly stateDir: string
  readonly workload: string
}

interface Start {
  /** Identifies it across a crash. */
  readonly key?: string
  readonly pty?: boolean
  /** A text to wait for. */
  readonly watch?: string | null
}

const LONG_MS = 60 * 60_000
const MAX_LISTED = 1_000
const PAGE_BYTES = 1024 * 1024

export const open = (options: OpenOptions) => openWith(options, false)

/** The crash kills the daemon, which is this OS process; with `keeperToo` also the keeper. */
export async function openWith({ stateDir, workload }: OpenOptions, keeperToo: boolean) {
  const home = join(stateDir, 'home')
  const reeve = await embed({ store: join(stateDir, 'reeve.db'), commands: { home } })
  const { keeper } = await reeve.status()
  const daemonAlone = workload.startsWith('crash') && !keeperToo
  const osPids = keeper === null || daemonAlone ? [process.pid] : [process.pid, keeper.osPid]
  return {
    shell: '/bin/sh -c',
    supervisorPids: () => osPids,
    async start(line: string, { key, pty = false, watch }: Start = {}) {
      const { record } = await reeve.spawn({
        kind: 'command',
        spec: { argv: ['/bin/sh', '-c', line], pty },
        ...(key === undefined ? {} : { name: key }),
      })
      const { pid } = record
      const found = watch ? reeve.wait({ pid, until: { text: watch }, timeoutMs: LONG_MS }) : undefined
      return {
        async firstOutput() {
          const output = reeve.followOutput({ pid })[Symbol.asyncIterator]()
          await output.next()
          // The byte is here; the end of the follower need not be awaited.
          void output.return?.()
        },
        async waitExit() {
          const waited = await reeve.wait({ pid, timeoutMs: LONG_MS })
          if (waited.type !== 'ended') throw new Error(`The wait for ${pid} has ${waited.type}.`)
          return { code: waited.record.outcome?.exitCode, signal: waited.record.outcome?.signal }
        },
        async waitWatch() {
          const heard = await found
          // Counts as never seen.
          if (heard?.type !== 'matched') await new Promise(() => {})
        },
        async stored() {
          // The outcome is written after all output; from here on the code only counts.
          const at = performance.now()
          return { kept: (await keptOutput(reeve, pid)).length, path: join(home, 'output', pid), at }
        },
        kill: () => reeve.kill({ pid }),
      }
    },
    async list() {
      return (await reeve.list({ limit: MAX_LISTED })).processes
    },
    async recover() {
      const { processes } = await reeve.list({ filter: { status: 'any' }, limit: MAX_LISTED })
      return Promise.all(
        processes.map(async ({ record: { pid, name: key, status, program, outcome } }) => ({
          key,
          // An abandoned command must be gone: otherwise it runs unsupervised.
          known: status !== 'abandoned' || !isAlive(program?.osPid ?? 0),
          exitCode: outcome?.exitCode,
          output: (await keptOutput(reeve, pid)).toString(),
        })),
      )
    },
    async close() {
      await reeve.killAll({ graceMs: 1 })
      await reeve.close()
    },
  }
}

/** All output that can be read. */
async function keptOutput(reeve: Reeve, pid: string): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for (let offset = 0; ; ) {
    const page = await reeve.output({ pid, offset, limit: PAGE_BYTES })
    if (page.bytes.length === 0) return Buffer.concat(parts)
    parts.push(page.bytes)
    offset = page.next
  }
}
