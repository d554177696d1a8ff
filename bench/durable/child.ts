/**
 * A second OS process for the measurements that kill one. `node child.ts <build> <role> <store> …`, where the role is
 * `hold <count>`: registers and begins that many processes, and never ends them; or
 * `work <log> <concurrency>`: runs queued processes, 5 ms each, and logs each start; or
 * `tell`: runs queued processes, and prints the start time of each.
 */
import { openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

/** The limit of one call. */
const CHUNK = 10_000
const UNIT_MS = 5

const [build = '', role, store = '', first = '', second = ''] = process.argv.slice(2)
const { embed } = (await import(pathToFileURL(build).href)) as typeof import('../../src/index.ts')

// When the parent ends, its end of the pipe is closed.
process.stdin.on('end', () => process.exit(1)).resume()

if (role === 'hold') await hold(Number(first))
else if (role === 'work') await work(first, Number(second))
else if (role === 'tell') await tell()
else throw new Error(`There is no role ${role}.`)
process.stdout.write('ready\n')

async function hold(count: number): Promise<void> {
  const never = () => new Promise<undefined>(() => {})
  const reeve = await embed({ store, tools: { unit: never }, concurrency: count })
  for (let left = count; left > 0; left -= CHUNK) {
    const processes = Array.from({ length: Math.min(CHUNK, left) }, (_, input) => ({
      kind: 'tool' as const,
      spec: { tool: 'unit', input },
      recovery: 'rerunnable' as const,
    }))
    await reeve.spawnMany({ processes })
  }
}

async function work(log: string, concurrency: number): Promise<void> {
  const file = openSync(log, 'a')
  const unit = async ({ input }: { input: unknown }) => {
    writeSync(file, `${input}\n`)
    await sleep(UNIT_MS)
    return undefined
  }
  await embed({ store, tools: { unit }, concurrency })
}

async function tell(): Promise<void> {
  const unit = () => {
    process.stdout.write(`${performance.timeOrigin + performance.now()}\n`)
    return null
  }
  await embed({ store, tools: { unit } })
}
