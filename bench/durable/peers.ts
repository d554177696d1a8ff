import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Figure } from '../figure.ts'
import type { SuiteOptions } from '../suite.ts'
import { BUILD } from './build.ts'
import { compared, type PeerResult } from './compared.ts'
import { runnablePeers } from './install-peers.ts'

/** Those that a goal names, and the floors. */
const PEERS = [
  'sqlite-group',
  'sqlite-each',
  'pg-raw',
  'plainjob',
  'plainjob-full',
  'graphile-worker',
  'pg-boss',
]
const WORKLOADS = ['turnover', 'turnover-bulk', 'latency', 'signal', 'recovery']

/** Runs the peers' own benchmark with Reeve as one of them: same run, disk, PostgreSQL and durability. */
export async function* besidePeers(
  given: string,
  built: string,
  { quick, say, failed }: SuiteOptions,
): AsyncGenerator<Figure> {
  const folder = await runnablePeers(given, say)
  const adapter = fileURLToPath(import.meta.resolve('./adapter.ts'))
  const args = [
    ...['--adapter', adapter],
    ...['--peer', [...PEERS, 'reeve-sqlite', 'reeve-postgres'].join(',')],
    ...['--workload', WORKLOADS.join(',')],
    ...(quick ? ['--quick'] : []),
  ]
  say(`peers in ${folder}`)
  const child = spawn(process.execPath, [join(folder, 'run.mjs'), ...args], {
    cwd: folder,
    env: { ...process.env, [BUILD]: built },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  process.once('exit', () => child.kill())
  const exited = once(child, 'exit')
  const results: PeerResult[] = []
  for await (const line of createInterface(child.stdout)) {
    const result = resultFrom(line)
    if (result === undefined) continue
    const what = `${result.peer}, ${result.workload}`
    if (result.value === null) failed(what, new Error(result.note))
    else say(`${what}: ${result.value} ${result.unit}`)
    results.push(result)
  }
  const [code, signal] = await exited
  if (code !== 0) throw new Error(`The peers' benchmark ended with ${code ?? signal}.`)
  yield* compared(results)
}

/** Lines that are no results are about the machine, or the table at the end. */
function resultFrom(line: string): PeerResult | undefined {
  if (!line.startsWith('{"peer"')) return undefined
  return JSON.parse(line) as PeerResult
}
