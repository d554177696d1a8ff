import { median, sleep } from '../clock.ts'
import { freshFolder, type Setup } from '../doors/setup.ts'
import { Daemon } from '../doors/start-daemon.ts'
import { type Figure, figure, valueAtMost } from '../figure.ts'
import { pssBytes, rssBytes } from '../host/proc.ts'

const MB = 1e6
const MAX_MB = 400
const CHUNK = 500

interface Size {
  readonly count: number
  readonly rounds: number
  readonly settleMs: number
}

/** A daemon with many agents that wait for input: its memory, and its start compared with one in an empty home. */
export async function* idle(setup: Setup, { count, rounds, settleMs }: Size): AsyncGenerator<Figure> {
  const [full, empty] = [freshFolder(setup, 'full'), freshFolder(setup, 'empty')]
  await (await Daemon.start(setup, {}, empty)).stop()
  const filling = await Daemon.start(setup, {}, full)
  for (let first = 0; first < count; first += CHUNK) {
    const size = Math.min(CHUNK, count - first)
    const processes = Array.from({ length: size }, () => ({
      kind: 'agent',
      spec: { agent: 'helper', model: 'scripted/demo' },
    }))
    await filling.asker.ask({ method: 'POST', path: '/v1/spawn-many', body: { processes } })
  }
  await sleep(settleMs)
  const [filled] = await filling.osPids()
  yield figure(`${count} idle agents, just started: memory of the daemon (RSS)`, rssBytes(filled) / MB, 'MB')
  await filling.stop()
  const starts: { full: number; empty: number }[] = []
  for (let round = 0; round < rounds; round++)
    starts.push({ empty: await startMs(setup, empty), full: await startMs(setup, full) })
  const daemon = await Daemon.start(setup, {}, full)
  await sleep(settleMs)
  const [osPid] = await daemon.osPids()
  const goal = valueAtMost(MAX_MB, 'MB')
  yield figure(
    `${count} idle agents: memory of the daemon (PSS)`,
    pssBytes(osPid) / MB,
    'MB',
    undefined,
    goal,
  )
  yield figure(
    `${count} idle agents: memory of the daemon (RSS)`,
    rssBytes(osPid) / MB,
    'MB',
    undefined,
    goal,
  )
  const compared = {
    ratio: median(starts.map((start) => start.full / start.empty)),
    against: 'a home without agents',
  }
  yield figure(
    `${count} idle agents: start to ready`,
    median(starts.map((start) => start.full)),
    'ms',
    compared,
  )
  await daemon.close()
}

async function startMs(setup: Setup, home: string): Promise<number> {
  const daemon = await Daemon.start(setup, {}, home)
  await daemon.stop()
  return daemon.readyMs
}
