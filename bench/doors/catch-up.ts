import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { OutputOf } from '../../src/index.ts'
import { inTurns, now } from '../clock.ts'
import { type Figure, figure, ratioAtLeast } from '../figure.ts'
import { writeNumberedLines } from '../host/numbered-lines.ts'
import { quoted } from '../host/setup.ts'
import { Asker } from './asker.ts'
import { bareServer } from './bare.ts'
import { freshFolder, type Setup } from './setup.ts'
import { Daemon } from './start-daemon.ts'

const MB = 1e6
const GOAL = 0.5

interface Size {
  readonly bytes: number
  readonly rounds: number
}

/** A late reader that reads all output from the beginning. */
export async function* catchUp(setup: Setup, { bytes, rounds }: Size): AsyncGenerator<Figure> {
  const folder = freshFolder(setup, 'catch-up')
  const data = join(folder, 'data')
  writeNumberedLines(data, bytes)
  const daemon = await Daemon.start(setup, { REEVE_OUTPUT_TAIL_BYTES: String(2 * bytes) })
  const server = await bareServer()
  const bare = new Asker(server.said)
  const { connect } = (await import(
    pathToFileURL(setup.built.reeve).href
  )) as typeof import('../../src/index.ts')
  const reeve = await connect({ home: daemon.home })
  const rate = async (read: () => Promise<number>) => {
    const begun = now()
    const length = await read()
    if (length !== bytes) throw new Error(`${length} of ${bytes} bytes were read.`)
    return length / MB / ((now() - begun) / 1_000)
  }
  try {
    const pid = await printed(daemon, data)
    const floor = () =>
      rate(async () => (await bare.ask({ path: `/?file=${encodeURIComponent(data)}` })).bytes)
    const stream = (of: string) => rate(() => readStream(daemon.asker, of))
    const followed = () =>
      rate(async () => {
        let read = 0
        for await (const piece of reeve.followOutput({ pid })) read += piece.bytes.length
        return read
      })
    const name = `a reader catches up ${bytes / MB} MB`
    const against = "plain file through Node's HTTP server"
    await stream(pid)
    await floor()
    const unread: string[] = []
    for (let round = 0; round < rounds; round++) unread.push(await printed(daemon, data))
    const readers = {
      // The first read scans it for secrets.
      'the first reader': () => stream(unread.pop() ?? ''),
      'a later reader': () => stream(pid),
    }
    for (const [reader, read] of Object.entries(readers)) {
      const { first, second, ratio } = await inTurns(rounds, read, floor)
      yield figure(`${name}: ${reader}`, first, 'MB/s', { ratio, against }, ratioAtLeast(GOAL))
      yield figure(`${name}: the floor of ${reader}`, second, 'MB/s')
    }
    const { first, ratio } = await inTurns(rounds, followed, floor)
    yield figure(`${name}: followOutput, on the socket`, first, 'MB/s', { ratio, against })
  } finally {
    await reeve.close()
    bare.close()
    await server.end()
    await daemon.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A command that has printed everything. */
async function printed(daemon: Daemon, data: string): Promise<string> {
  const pid = await daemon.run(`cat ${quoted(data)}`)
  const waited = (await daemon.asker.json({ path: `/v1/processes/${pid}/wait` })) as OutputOf<'wait'>
  if (waited.type !== 'ended') throw new Error(`The command that prints: ${waited.type}.`)
  return pid
}

/** Reads page after page, by the offsets in the headers. */
async function readStream(asker: Asker, pid: string): Promise<number> {
  let read = 0
  for (let offset = '-1'; ; ) {
    const { bytes, headers } = await asker.ask({
      path: `/v1/processes/${pid}/output/stream?offset=${offset}`,
    })
    read += bytes
    if (headers['stream-closed'] === 'true') return read
    offset = String(headers['stream-next-offset'])
  }
}
