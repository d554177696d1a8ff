import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import manifest from '../../package.json' with { type: 'json' }
import { runnablePeers } from '../durable/install-peers.ts'
import type { Figure } from '../figure.ts'
import type { SuiteOptions } from '../suite.ts'
import type { Built } from './build.ts'
import { compared, type PeerResult, WORKLOADS } from './compared.ts'

/**
 * Runs the peers' own benchmark with Reeve as one of them. One workload after another, so that what is compared is
 * measured close together.
 */
export async function* besidePeers(
  given: string,
  built: Built,
  isWanted: (workload: string) => boolean,
  options: SuiteOptions,
): AsyncGenerator<Figure> {
  const wanted = WORKLOADS.filter(isWanted)
  if (wanted.length === 0) return
  // Some of them fetch browsers when they are installed, which no workload needs.
  const folder = await runnablePeers(given, options.say, ['--ignore-scripts'])
  for (const workload of wanted) {
    options.say(`peers, ${workload}`)
    const adapters = workload === 'crash' ? [built.adapter, built.adapterKeeperToo] : [built.adapter]
    yield* compared(await runPeers(folder, adapters, workload, options))
  }
}

async function runPeers(
  folder: string,
  adapters: readonly string[],
  workload: string,
  { quick, folder: own, say, failed }: SuiteOptions,
): Promise<PeerResult[]> {
  const args = ['--workloads', workload, '--tmp', own, ...adapters.flatMap((file) => ['--adapter', file])]
  const child = spawn(process.execPath, [join(folder, 'run.mjs'), ...args, ...(quick ? ['--quick'] : [])], {
    cwd: folder,
    env: { ...process.env, REEVE_BENCH_VERSION: manifest.version },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const stop = () => child.kill()
  process.once('exit', stop)
  const exited = once(child, 'exit')
  const results: PeerResult[] = []
  for await (const line of createInterface(child.stdout)) {
    // Other lines are the table at the end.
    if (!line.startsWith('{"peer"')) {
      if (line !== '') say(line)
      continue
    }
    const result = JSON.parse(line) as PeerResult
    results.push(result)
    if (result.unit === 'error') failed(`${result.peer}, ${result.workload}`, new Error(result.note))
  }
  const [code, signal] = await exited
  process.off('exit', stop)
  if (code !== 0) throw new Error(`The peers' benchmark ended with ${code ?? signal}.`)
  return results
}
