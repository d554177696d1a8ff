import type { Setup } from '../doors/setup.ts'
import { build } from '../durable/build.ts'
import type { Figure } from '../figure.ts'
import { suiteWithoutStrays } from '../host/strays.ts'
import { type Measurements, measureEach, type SuiteOptions } from '../suite.ts'
import { attach } from './attach.ts'
import { idle } from './idle.ts'
import { besidePeer } from './peer.ts'
import { storage } from './storage.ts'
import { work } from './work.ts'

const FULL = {
  idle: { count: 10_000, rounds: 5, settleMs: 5_000 },
  work: { count: 200, seconds: 10 },
  attach: { entries: 100_000, rounds: 15 },
  storage: { turns: 2_000, codingTurns: 2_000 },
  // LangGraph JS stores the whole session with each step: 2,000 turns take about 17 GB of disk.
  peer: [
    { turns: 200, rounds: 3 },
    { turns: 2_000, rounds: 1 },
  ],
}
const QUICK: typeof FULL = {
  idle: { count: 1_000, rounds: 1, settleMs: 1_000 },
  work: { count: 20, seconds: 4 },
  attach: { entries: 10_000, rounds: 5 },
  storage: { turns: 200, codingTurns: 60 },
  peer: [
    { turns: 20, rounds: 1 },
    { turns: 200, rounds: 1 },
  ],
}

/** The cost of agents: idle, at work, attached to, stored. No figure needs a provider: all models are scripted. */
export const agents = suiteWithoutStrays(
  'agents',
  'agents with a scripted model: idle, at work, attach, storage, beside LangGraph JS (Linux)',
  measured,
)

async function* measured(options: SuiteOptions): AsyncGenerator<Figure> {
  options.say('building Reeve')
  const setup: Setup = { built: await build(), folder: options.folder }
  const size = options.quick ? QUICK : FULL
  const measurements: Measurements = {
    idle: () => idle(setup, { ...size.idle, count: options.count ?? size.idle.count }),
    work: () => work(setup, size.work),
    attach: () => attach(setup, size.attach),
    storage: () => storage(setup, size.storage),
    peer: () => besidePeer(setup, size.peer, options),
  }
  yield* measureEach(measurements, options)
}
