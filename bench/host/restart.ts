import { byCallers, median, now, until } from '../clock.ts'
import { type Figure, figure, valueAtMost } from '../figure.ts'
import { command, freshFolder, type Setup } from './setup.ts'
import { Daemon } from './start-daemon.ts'

const CALLERS = 8
const MAX_MS = 1_000

/** Kills a daemon and starts another: the time until it has adopted all running commands. */
export async function* restart(
  setup: Setup,
  { count, rounds }: { count: number; rounds: number },
): AsyncGenerator<Figure> {
  const folder = freshFolder(setup, 'restart')
  let daemon = await Daemon.start(setup.built, folder)
  const times = { whole: [] as number[], embed: [] as number[] }
  try {
    await byCallers(count, CALLERS, () => daemon.ask('spawn', command('exec sleep 1000')))
    for (let round = 0; round < rounds; round++) {
      await daemon.kill()
      const begun = now()
      daemon = await Daemon.start(setup.built, folder)
      times.whole.push(now() - begun)
      times.embed.push(daemon.ready.embedMs)
      const { adopted } = daemon.ready
      if (adopted !== count) throw new Error(`${adopted} of ${count} commands were adopted.`)
    }
    const name = `restart of the daemon with ${count} live commands`
    yield figure(`${name}: all adopted`, median(times.whole), 'ms', undefined, valueAtMost(MAX_MS, 'ms'))
    yield figure(`${name}: of that, embed()`, median(times.embed), 'ms')
    await endedByTheNewOne(daemon, count)
  } finally {
    await daemon.close()
  }
}

/** An adopted command can be killed, and its end is seen. */
async function endedByTheNewOne(daemon: Daemon, count: number): Promise<void> {
  const { processes } = await daemon.ask('list', { limit: 1_000 })
  if (processes.length !== count) throw new Error(`${processes.length} of ${count} commands are listed.`)
  const [one] = processes
  if (one === undefined) return
  const { record } = await daemon.ask('kill', { pid: one.record.pid })
  if (record.outcome?.signal !== 'SIGTERM') throw new Error(`${record.pid} did not end by SIGTERM.`)
  await until('one is gone', async () => (await daemon.ask('liveCount', {})).live === count - 1)
}
