import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { embed } from '../../src/index.ts'
import { median, now } from '../clock.ts'
import { freshFolder, type Setup } from '../doors/setup.ts'
import { Daemon } from '../doors/start-daemon.ts'
import { type Figure, figure, valueAtMost } from '../figure.ts'

const MAX_MS = 100
/** Each part of an answer is an entry. */
const PARTS = 500
const FEW_ENTRIES = 100

interface Size {
  readonly entries: number
  readonly rounds: number
}

/** The first page of a long session: embedded by `followAgent`, and over HTTP by `agentLog`, compared with a short session. */
export async function* attach(setup: Setup, { entries, rounds }: Size): AsyncGenerator<Figure> {
  const home = freshFolder(setup, 'home')
  const cwd = freshFolder(setup, 'workspace')
  const reeve = await embed({ store: join(home, 'reeve.db') })
  const session = async (name: string, count: number) => {
    const parts = Array.from({ length: Math.min(PARTS, count) }, (_, index) => ({ text: `line ${index}` }))
    writeFileSync(join(cwd, name), JSON.stringify({ answers: [{ parts }], atEnd: 'repeat' }))
    const spec = { agent: 'helper', model: `scripted/${name}` }
    const { pid } = (await reeve.spawn({ kind: 'agent', cwd, spec })).record
    for (let turn = 1; turn <= Math.ceil(count / PARTS); turn++) {
      await reeve.runAgent({ pid, text: 'go on' })
      await reeve.waitAgent({ pid, turn })
    }
    return pid
  }
  const pids = { long: await session('long.json', entries), short: await session('short.json', FEW_ENTRIES) }
  const first = async (pid: string) => {
    const begun = now()
    for await (const _ of reeve.followAgent({ pid })) break
    return now() - begun
  }
  yield* compared(`attach to ${entries} entries, embedded: first frame`, rounds, pids, first)
  await reeve.close()
  const daemon = await Daemon.start(setup, {}, home)
  try {
    const overHttp = async (pid: string) => {
      const begun = now()
      await daemon.asker.ask({ path: `/v1/agents/${pid}/log` })
      return now() - begun
    }
    yield* compared(`attach to ${entries} entries, over HTTP: first frame`, rounds, pids, overHttp)
  } finally {
    await daemon.close()
  }
}

async function* compared(
  name: string,
  rounds: number,
  { long, short }: { readonly long: string; readonly short: string },
  timed: (pid: string) => Promise<number>,
): AsyncGenerator<Figure> {
  const cold = await timed(long)
  const turns: { long: number; short: number }[] = []
  for (let round = 0; round < rounds; round++)
    turns.push({ short: await timed(short), long: await timed(long) })
  const goal = valueAtMost(MAX_MS, 'ms')
  yield figure(`${name}, the very first`, cold, 'ms', undefined, goal)
  const ratio = median(turns.map((turn) => turn.long / turn.short))
  const against = `a session of ${FEW_ENTRIES} entries`
  yield figure(name, median(turns.map((turn) => turn.long)), 'ms', { ratio, against }, goal)
}
