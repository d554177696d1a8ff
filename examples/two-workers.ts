/**
 * Two workers in separate OS processes share one store. One is killed with SIGKILL while it runs three processes; the
 * other notices, takes them over, and finishes them.
 *
 * npx node --conditions=reeve-source examples/two-workers.ts
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { embed, type Reeve } from 'reeve'

const [, , role, store] = process.argv
await (role === 'worker' && store !== undefined ? work(store) : main())

/** A worker: a kernel that executes `parcel` processes, three at a time. */
async function work(store: string) {
  const name = process.env['WORKER'] ?? ''
  await embed({
    store,
    concurrency: 3,
    // How often it looks for dead kernels. The default of ten seconds is long for an example.
    times: { sweepMs: 200 },
    tools: {
      async parcel({ abortSignal }) {
        // Work of its own keeps the slot. While a tool waits in Reeve, for a signal or a child, others may use its slot.
        while (!existsSync(goFile(store))) await setTimeout(20, undefined, { signal: abortSignal })
        return `delivered by ${name}`
      },
    },
  })
  // The channel closes when the parent has ended.
  process.on('disconnect', () => process.exit())
}

async function main() {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-example-'))
  const store = join(folder, 'reeve.db')
  // This kernel serves no tools: it registers and watches, and others execute.
  const reeve = await embed({ store })
  const { processes } = await reeve.spawnMany({
    processes: [1, 2, 3, 4, 5, 6].map((number) => ({
      kind: 'tool',
      spec: { tool: 'parcel', input: number },
      label: `parcel ${number}`,
      recovery: 'rerunnable',
    })),
  })
  const pids = processes.map(({ record }) => record.pid)

  const anna = startWorker('anna', store)
  await began(reeve, 3)
  const bert = startWorker('bert', store)
  await began(reeve, 6)
  console.log('anna and bert have begun three parcels each')

  anna.kill('SIGKILL')
  await once(anna, 'exit')
  console.log('anna was killed')

  await writeFile(goFile(store), '')
  const { records } = await reeve.waitAll({ pids })
  for (const { identity, status, attempts, outcome } of records) {
    console.log(`${identity.label}: ${status}, ${outcome?.result}, attempts: ${attempts}`)
  }

  bert.kill('SIGKILL')
  await once(bert, 'exit')
  await reeve.close()
  await rm(folder, { recursive: true })
}

/** The parcels are delivered when this file exists. */
function goFile(store: string): string {
  return join(dirname(store), 'go')
}

function startWorker(name: string, store: string): ChildProcess {
  const env = { ...process.env, WORKER: name }
  return fork(fileURLToPath(import.meta.url), ['worker', store], { env })
}

/** Resolves when the workers together have started this many processes. */
async function began(reeve: Reeve, count: number) {
  let seen = 0
  for await (const { type } of reeve.follow()) if (type === 'started' && ++seen === count) return
}
