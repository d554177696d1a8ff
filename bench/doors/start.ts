import { type Figure, figure, valueAtMost } from '../figure.ts'
import { bareNode } from './bare.ts'
import { beyond } from './beyond.ts'
import type { Setup } from './setup.ts'
import { Daemon } from './start-daemon.ts'

const MAX_MS = 300

/** `reeve up` in an empty home, until it answers that it is ready. */
export async function* start(setup: Setup, { rounds }: { rounds: number }): AsyncGenerator<Figure> {
  const untilReady = async () => {
    const daemon = await Daemon.start(setup)
    await daemon.close()
    return daemon.readyMs
  }
  yield figure('the very first start to ready: nothing compiled yet', await untilReady(), 'ms')
  const { ours, difference, ratio } = await beyond(rounds, untilReady, bareNode)
  yield figure('start to ready, empty store', ours, 'ms')
  const compared = { ratio, against: 'node -e 0' }
  yield figure('start to ready: beyond bare Node', difference, 'ms', compared, valueAtMost(MAX_MS, 'ms more'))
}
