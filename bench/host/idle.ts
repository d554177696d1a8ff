import { byCallers, sleep } from '../clock.ts'
import { type Figure, figure, valueAtMost } from '../figure.ts'
import { cpuMs, pssBytes, rssBytes } from './proc.ts'
import { command, freshFolder, type Setup } from './setup.ts'
import { Daemon } from './start-daemon.ts'

const MB = 1e6
const CALLERS = 8
const MAX_MB = 150
/** The interval of renewals and sweeps: a shorter window would contain them by chance. */
const WINDOW_MS = 10_000
const MAX_CPU_MS = 10

/** What daemon and keeper cost while commands idle. */
export async function* idle(
  setup: Setup,
  { count, settleMs }: { count: number; settleMs: number },
): AsyncGenerator<Figure> {
  const daemon = await Daemon.start(setup.built, freshFolder(setup, 'idle'))
  const osPids = [daemon.osPid, daemon.ready.keeperPid] as const
  const each = (of: (osPid: number) => number) => osPids.map(of)
  try {
    await byCallers(count, CALLERS, () => daemon.ask('spawn', command('exec sleep 1000')))
    await sleep(settleMs)
    const before = each(cpuMs)
    await sleep(WINDOW_MS)
    const [ofDaemon = 0, ofKeeper = 0] = each(cpuMs).map((ms, index) => ms - (before[index] ?? 0))
    const { live } = await daemon.ask('liveCount', {})
    if (live !== count) throw new Error(`${live} of ${count} commands are running.`)
    const name = `${count} idle commands`
    const goal = valueAtMost(MAX_CPU_MS, 'ms')
    yield figure(`${name}: CPU of both in ${WINDOW_MS / 1_000} s`, ofDaemon + ofKeeper, 'ms', undefined, goal)
    yield figure(`${name}: CPU of the daemon`, ofDaemon, 'ms')
    yield figure(`${name}: CPU of the keeper`, ofKeeper, 'ms')
    const memory = valueAtMost(MAX_MB, 'MB')
    for (const [how, of] of [
      ['PSS', pssBytes],
      ['RSS', rssBytes],
    ] as const) {
      const [daemonMb = 0, keeperMb = 0] = each((osPid) => of(osPid) / MB)
      yield figure(`${name}: memory of both (${how})`, daemonMb + keeperMb, 'MB', undefined, memory)
      yield figure(`${name}: memory of the keeper (${how})`, keeperMb, 'MB')
    }
  } finally {
    await daemon.close()
  }
}
