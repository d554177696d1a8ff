import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type Figure, figure, valueAtMost } from '../figure.ts'
import { bareNode, timed } from './bare.ts'
import { beyond } from './beyond.ts'
import type { Setup } from './setup.ts'
import { Daemon } from './start-daemon.ts'

const MAX_MS = 150
const COMMANDS = 20

/** `reeve ps` with a daemon that runs a few commands. */
export async function* ps(setup: Setup, { rounds }: { rounds: number }): AsyncGenerator<Figure> {
  const daemon = await Daemon.start(setup)
  const args = [setup.built.launcher, 'ps']
  try {
    const pids: string[] = []
    for (let index = 0; index < COMMANDS; index++) pids.push(await daemon.run(`exec sleep 100${index}`))
    // The first one also compiles.
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: daemon.env })
    const missing = pids.filter((pid) => !stdout.includes(pid))
    if (missing.length > 0) throw new Error(`reeve ps does not show ${missing.length} of ${COMMANDS}.`)
    const { ours, difference, ratio } = await beyond(
      rounds,
      () => timed(process.execPath, args, daemon.env),
      bareNode,
    )
    const name = `reeve ps, ${COMMANDS} commands`
    yield figure(name, ours, 'ms')
    const compared = { ratio, against: 'node -e 0' }
    yield figure(`${name}: beyond bare Node`, difference, 'ms', compared, valueAtMost(MAX_MS, 'ms more'))
  } finally {
    await daemon.close()
  }
}
