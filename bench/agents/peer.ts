import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median } from '../clock.ts'
import { freshFolder, type Setup } from '../doors/setup.ts'
import { madeBeside } from '../durable/build.ts'
import { runnablePeers } from '../durable/install-peers.ts'
import { type Figure, figure, ratioAtMost } from '../figure.ts'
import type { SuiteOptions } from '../suite.ts'
import { play, storedBytes } from './session-program.ts'

const KB = 1e3
const AGAINST = 'LangGraph JS with its SQLite checkpointer'

interface Size {
  readonly turns: number
  readonly rounds: number
}

interface Session {
  readonly bytes: number
  readonly turnMs: number
  /** The median turn of the last tenth, over that of the first. */
  readonly growth: number
  readonly resumeMs: number
}

/** One session, turn after turn, in Reeve and in LangGraph JS: the same texts, each in an OS process of its own. */
export async function* besidePeer(
  setup: Setup,
  sizes: readonly Size[],
  { peers, say }: SuiteOptions,
): AsyncGenerator<Figure> {
  const given = peers ?? fileURLToPath(import.meta.resolve('./peer'))
  // Peer ranges of its packages contradict each other now and then; the versions are pinned instead.
  const peer = join(await runnablePeers(given, say, ['--legacy-peer-deps']), 'run.mjs')
  const reeve = madeBeside(setup.built.reeve, import.meta.resolve('./reeve-turns.ts'))
  for (const { turns: count, rounds } of sizes) {
    say(`peer: ${count} turns`)
    const pairs: { ours: Session; theirs: Session }[] = []
    for (let round = 0; round < rounds; round++)
      pairs.push({ ours: await session(setup, reeve, count), theirs: await session(setup, peer, count) })
    const compared = (name: string, what: keyof Session, unit: string, scale = 1) => [
      figure(
        `${count} turns: ${name}`,
        median(pairs.map(({ ours }) => ours[what])) / scale,
        unit,
        { ratio: median(pairs.map(({ ours, theirs }) => ours[what] / theirs[what])), against: AGAINST },
        ratioAtMost(1),
      ),
      figure(
        `${count} turns, LangGraph JS: ${name}`,
        median(pairs.map(({ theirs }) => theirs[what])) / scale,
        unit,
      ),
    ]
    yield* compared('bytes stored', 'bytes', 'kB', KB)
    yield* compared('time of a turn', 'turnMs', 'ms')
    yield* compared('last tenth of the turns against the first', 'growth', '×')
    yield* compared('ready for input after SIGKILL', 'resumeMs', 'ms')
  }
}

async function session(setup: Setup, program: string, turns: number): Promise<Session> {
  const folder = freshFolder(setup, 'session')
  const { turnMs } = await play(program, folder, { last: turns * 2, killAt: turns })
  const bytes = storedBytes(folder)
  const { readyMs: resumeMs } = await play(program, folder, { last: turns })
  const tenth = Math.ceil(turnMs.length / 10)
  const growth = median(turnMs.slice(-tenth)) / median(turnMs.slice(0, tenth))
  rmSync(folder, { recursive: true })
  return { bytes, turnMs: median(turnMs), growth, resumeMs }
}
