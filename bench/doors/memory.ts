import { sleep } from '../clock.ts'
import { type Figure, figure, valueAtMost } from '../figure.ts'
import { pssBytes, rssBytes } from '../host/proc.ts'
import { idleNode } from './bare.ts'
import type { Setup } from './setup.ts'
import { Daemon } from './start-daemon.ts'

const MB = 1e6
const MAX_MB = 100

/** The memory of a fresh daemon and its keeper, compared with two idle Node processes. */
export async function* memory(setup: Setup, { settleMs }: { settleMs: number }): AsyncGenerator<Figure> {
  const daemon = await Daemon.start(setup)
  const bare = [await idleNode(), await idleNode()]
  try {
    const osPids = await daemon.osPids()
    await sleep(settleMs)
    for (const [how, of] of [
      ['PSS', pssBytes],
      ['RSS', rssBytes],
    ] as const) {
      const [ofDaemon = 0, ofKeeper = 0] = osPids.map((osPid) => of(osPid) / MB)
      const floor = bare.reduce((sum, { osPid }) => sum + of(osPid) / MB, 0)
      const both = ofDaemon + ofKeeper
      const compared = { ratio: both / floor, against: 'two idle Nodes' }
      yield figure(`idle daemon + keeper: memory (${how})`, both, 'MB', compared, valueAtMost(MAX_MB, 'MB'))
      yield figure(`idle daemon: memory (${how})`, ofDaemon, 'MB')
      yield figure(`idle keeper: memory (${how})`, ofKeeper, 'MB')
    }
  } finally {
    for (const one of bare) await one.end()
    await daemon.close()
  }
}
