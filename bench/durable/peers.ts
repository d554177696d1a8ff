import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Figure } from '../figure.ts'
import type { SuiteOptions } from '../suite.ts'
import { madeBeside } from './build.ts'
import { compared, neededPeers, type PeerResult } from './compared.ts'
import { runnablePeers } from './install-peers.ts'

/**
 * Runs the peers' own benchmark with Reeve as one of them: same disk, same PostgreSQL and durability. One workload
 * after another, so that what is compared is measured close together.
 */
export async function* besidePeers(
  given: string,
  built: string,
  options: SuiteOptions,
): AsyncGenerator<Figure> {
  const folder = await runnablePeers(given, options.say)
  for (const [workload, peers] of neededPeers()) {
    options.say(`peers, ${workload}`)
    yield* compared(await runPeers(folder, built, workload, peers, options))
  }
}

async function runPeers(
  folder: string,
  built: string,
  workload: string,
  peers: readonly string[],
  { quick, say, failed }: SuiteOptions,
): Promise<PeerResult[]> {
  const adapter = madeBeside(built, import.meta.resolve('./adapter.ts'))
  const args = ['--adapter', adapter, '--peer', peers.join(','), '--workload', workload]
  const child = spawn(process.execPath, [join(folder, 'run.mjs'), ...args, ...(quick ? ['--quick'] : [])], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const stop = () => child.kill()
  process.once('exit', stop)
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
  process.off('exit', stop)
  if (code !== 0) throw new Error(`The peers' benchmark ended with ${code ?? signal}.`)
  return results
}

/** Lines that are no results are about the machine, or the table at the end. */
function resultFrom(line: string): PeerResult | undefined {
  if (!line.startsWith('{"peer"')) return undefined
  return JSON.parse(line) as PeerResult
}
