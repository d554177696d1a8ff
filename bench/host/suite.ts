import { pathToFileURL } from 'node:url'
import type { Figure } from '../figure.ts'
import { isWanted, type Measurements, measureEach, type SuiteOptions, tried } from '../suite.ts'
import { buildForDaemons } from './build.ts'
import { crash } from './crash.ts'
import { idle } from './idle.ts'
import { latency } from './latency.ts'
import { linesReadMasked } from './masked.ts'
import { besidePeers } from './peers.ts'
import { restart } from './restart.ts'
import type { Setup } from './setup.ts'
import { suiteWithoutStrays } from './strays.ts'
import { followed, lines, linesWithWait, terminal } from './throughput.ts'
import { treeKill } from './tree-kill.ts'
import { turnover } from './turnover.ts'

const FULL = {
  turnover: { count: 500, rounds: 5 },
  latency: { starts: 100, exits: 60 },
  lines: { bytes: 500e6, rounds: 3 },
  masked: { bytes: 100e6, rounds: 5 },
  terminal: { bytes: 50e6, rounds: 3 },
  kills: 5,
  crash: { ticks: 60, beforeKillMs: 1_500 },
  idle: { count: 200, settleMs: 3_000 },
  restart: { count: 200, rounds: 3 },
}
const QUICK: typeof FULL = {
  turnover: { count: 80, rounds: 3 },
  latency: { starts: 20, exits: 10 },
  lines: { bytes: 200e6, rounds: 3 },
  masked: { bytes: 100e6, rounds: 3 },
  terminal: { bytes: 20e6, rounds: 3 },
  kills: 1,
  crash: { ticks: 40, beforeKillMs: 500 },
  idle: { count: 200, settleMs: 1_000 },
  restart: { count: 200, rounds: 1 },
}

/** The cost of a command's durable record, keeper and output log. */
export const host = suiteWithoutStrays(
  'host',
  'commands: turnover, latency, output, tree kill, crash, idle (Linux)',
  measured,
)

async function* measured(options: SuiteOptions): AsyncGenerator<Figure> {
  options.say('building Reeve')
  const built = await buildForDaemons()
  const { embed } = (await import(pathToFileURL(built.reeve).href)) as typeof import('../../src/index.ts')
  const setup: Setup = { embed, built, folder: options.folder }
  const size = options.quick ? QUICK : FULL
  const measurements: Measurements = {
    turnover: () => turnover(setup, size.turnover),
    latency: () => latency(setup, size.latency),
    lines: () => lines(setup, size.lines),
    'lines with a wait': () => linesWithWait(setup, size.lines),
    'lines followed': () => followed(setup, size.lines),
    'lines read masked': () => linesReadMasked(setup, size.masked),
    terminal: () => terminal(setup, size.terminal),
    'tree kill': () => treeKill(setup, size.kills),
    crash: () => crash(setup, size.crash),
    idle: () => idle(setup, size.idle),
    restart: () => restart(setup, size.restart),
  }
  yield* measureEach(measurements, options)
  if (options.peers === undefined) return
  const wanted = (workload: string) => isWanted(`peers ${workload}`, options)
  yield* tried('peers', besidePeers(options.peers, built, wanted, options), options)
}
