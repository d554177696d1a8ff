/**
 * Reeve as the peers' benchmark sees it, for its `--adapter`: one peer per store. A unit is a `tool` process that
 * may run again after a crash; steps and signals are those of a workflow. bench/README.md says what `--peers` expects of an adapter.
 */
import { join } from 'node:path'
import type { Reeve, ToolHandler, WorkflowFunction } from '../../src/index.ts'

// Beside the build of Reeve: see peers.ts.
const { embed } = (await import(
  new URL('./index.js', import.meta.url).href
)) as typeof import('../../src/index.ts')
const { default: manifest } = await import(new URL('../package.json', import.meta.url).href, {
  with: { type: 'json' },
})

interface Context {
  /** The URL of an empty database. */
  readonly pg: string
  /** An empty folder. */
  readonly dir: string
  readonly workload: string
  readonly role: 'both' | 'client' | 'worker'
}

type Unit = (id: number) => Promise<void>

/**
 * The handler of the recovery workload admits ten at a time and lets the others wait. What a killed worker had
 * claimed without beginning it is merely put back, so more than ten keeps those ten busy; far more would gain nothing.
 */
const RECOVERY_CONCURRENCY = 50
const CONCURRENCY = 1_000

export default [
  peer('reeve-sqlite', 'fsync per group commit, before the ack', ({ dir }) => join(dir, 'reeve.db')),
  peer('reeve-postgres', 'PostgreSQL group commit, fsync before the ack', ({ pg }) => pg),
]

function peer(name: string, durability: string, storeOf: (context: Context) => string) {
  return {
    name,
    version: manifest.version,
    durability,
    workloads: ['turnover', 'turnover-bulk', 'latency', 'steps', 'signal', 'recovery'],
    tune: {
      turnover: { outstanding: 256 },
      'turnover-bulk': { chunk: 500, parallel: 2 },
    },
    notes: {
      turnover: 'spawn; a tool process each, with its events and its record',
      'turnover-bulk': 'spawnMany',
      recovery: `concurrency ${RECOVERY_CONCURRENCY}; no call: the new worker finds the dead one's processes when it starts`,
    },
    open: (context: Context) => open(storeOf(context), context),
  }
}

async function open(store: string, { role, workload }: Context) {
  const concurrency = workload === 'recovery' ? RECOVERY_CONCURRENCY : CONCURRENCY
  // A client has no tools: it executes nothing.
  let reeve = role === 'client' ? await embed({ store }) : undefined
  const opened = (): Reeve => {
    if (reeve === undefined) throw new Error('start() comes first.')
    return reeve
  }
  const waiting = new Map<number, { readonly woke: () => void; readonly pid: Promise<string> }>()
  const waiter: WorkflowFunction = async (ctx, id) => {
    await ctx.waitForSignal('go')
    waiting.get(Number(id))?.woke()
  }
  let step: (index: number) => unknown = () => {}
  const flow: WorkflowFunction = async (ctx, count) => {
    for (let index = 0; index < Number(count); index++) await ctx.step('step', () => void step(index))
  }

  return {
    async start(unit: Unit) {
      const run: ToolHandler = async ({ input }) => {
        await unit(Number(input))
        return undefined
      }
      reeve = await embed({ store, tools: { unit: run }, workflows: { waiter, flow }, concurrency })
    },
    accept: (id: number) => opened().spawn(toolCall('unit', id)),
    acceptMany: (ids: readonly number[]) =>
      opened().spawnMany({ processes: ids.map((id) => toolCall('unit', id)) }),
    unfinished: async () => (await opened().liveCount({})).live,
    async steps(count: number, run: (index: number) => unknown) {
      step = run
      const { record } = await opened().spawn(workflow('flow', count))
      await opened().wait({ pid: record.pid })
    },
    async wait(id: number, woke: () => void) {
      const pid = Promise.withResolvers<string>()
      waiting.set(id, { woke, pid: pid.promise })
      pid.resolve((await opened().spawn(workflow('waiter', id))).record.pid)
      await opened().waitFor({ pid: await pid.promise, types: ['wait_entered'] })
    },
    async signal(id: number) {
      const pid = await waiting.get(id)?.pid
      if (pid === undefined) throw new Error(`No process waits as ${id}.`)
      await opened().send({ pid, name: 'go' })
    },
    close: async () => reeve?.close(),
  }
}

function workflow(name: string, input: number) {
  return { kind: 'workflow' as const, spec: { workflow: name, input } }
}

function toolCall(tool: string, input: number) {
  return { kind: 'tool' as const, spec: { tool, input }, recovery: 'rerunnable' as const }
}
