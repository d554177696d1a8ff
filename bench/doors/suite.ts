import { build } from '../durable/build.ts'
import type { Figure } from '../figure.ts'
import { suiteWithoutStrays } from '../host/strays.ts'
import { type Measurements, measureEach, type SuiteOptions } from '../suite.ts'
import { api } from './api.ts'
import { catchUp } from './catch-up.ts'
import { memory } from './memory.ts'
import { ps } from './ps.ts'
import type { Setup } from './setup.ts'
import { start } from './start.ts'

const FULL = {
  start: { rounds: 15 },
  memory: { settleMs: 5_000 },
  ps: { rounds: 25 },
  api: { seconds: 10, rounds: 3 },
  catchUp: { bytes: 100e6, rounds: 7 },
}
const QUICK: typeof FULL = {
  start: { rounds: 5 },
  memory: { settleMs: 1_000 },
  ps: { rounds: 7 },
  api: { seconds: 4, rounds: 1 },
  catchUp: { bytes: 100e6, rounds: 3 },
}

/** The cost of Reeve's surfaces: the daemon, the command line, HTTP. */
export const doors = suiteWithoutStrays(
  'doors',
  'the daemon: start, memory, reeve ps, the API under load, catching up (Linux)',
  measured,
)

async function* measured(options: SuiteOptions): AsyncGenerator<Figure> {
  options.say('building Reeve')
  const setup: Setup = { built: await build(), folder: options.folder }
  const size = options.quick ? QUICK : FULL
  const measurements: Measurements = {
    start: () => start(setup, size.start),
    memory: () => memory(setup, size.memory),
    ps: () => ps(setup, size.ps),
    api: () => api(setup, size.api),
    'catch up': () => catchUp(setup, size.catchUp),
  }
  yield* measureEach(measurements, options)
}
