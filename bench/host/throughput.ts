import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Reeve } from '../../src/index.ts'
import { inTurns, now } from '../clock.ts'
import { type Figure, figure, ratioAtLeast, valueAtMost } from '../figure.ts'
import { runInTerminal, runThroughPipe } from './bare.ts'
import { LINE_BYTES, NEEDLE, writeNumberedLines } from './numbered-lines.ts'
import { peakRssBytes, resetPeakRss } from './proc.ts'
import { command, freshFolder, openReeve, quoted, type Setup } from './setup.ts'

const MB = 1e6
const KEEPER_MB = 120
const LONG_MS = 10 * 60_000

interface Size {
  readonly bytes: number
  readonly rounds: number
}

/** Lines through the keeper into the output log, until the end is known and all is stored. */
export async function* lines(setup: Setup, size: Size): AsyncGenerator<Figure> {
  yield* flowed(setup, size, {
    name: 'lines',
    goal: 0.8,
    against: 'bare pipe into a file',
    ours: (reeve, line) => ended(reeve, line, size.bytes, {}),
    floor: (line, file) => runThroughPipe(line, file).stored,
    stored: size.bytes,
  })
}

/** The same while a caller waits for a line near the end. */
export async function* linesWithWait(setup: Setup, size: Size): AsyncGenerator<Figure> {
  yield* flowed(setup, size, {
    name: 'lines with a wait for a text',
    goal: 0.6,
    against: 'bare pipe into a file, searched by hand',
    ours: (reeve, line) => ended(reeve, line, size.bytes, {}, NEEDLE),
    floor: async (line, file) => {
      const { stored, found } = runThroughPipe(line, file, NEEDLE)
      await Promise.all([stored, found])
    },
    stored: size.bytes,
  })
}

/**
 * A waiter or follower reads the log, which keeps only its first and last bytes: output that is dropped before it is read
 * is a gap. This measures how much is read.
 */
export async function* followed(setup: Setup, { bytes }: Size): AsyncGenerator<Figure> {
  const data = join(freshFolder(setup, 'followed'), 'data')
  writeNumberedLines(data, bytes)
  const { reeve, close } = await openReeve(setup)
  try {
    const { record } = await reeve.spawn(command(`cat ${quoted(data)}`))
    let read = 0
    for await (const piece of reeve.followOutput({ pid: record.pid })) read += piece.bytes.length
    yield figure(`${bytes / MB} MB of lines: read by a follower`, (read / bytes) * 100, '%')
  } finally {
    await close()
    rmSync(data)
  }
}

/** The same through a terminal, which turns each line feed into two bytes. */
export async function* terminal(setup: Setup, size: Size): AsyncGenerator<Figure> {
  const stored = size.bytes + size.bytes / LINE_BYTES
  yield* flowed(setup, size, {
    name: 'lines through a PTY',
    goal: 0.8,
    against: 'bare PTY library into a file',
    ours: (reeve, line) => ended(reeve, line, stored, { pty: true }),
    floor: runInTerminal,
    stored,
  })
}

interface Flow {
  readonly name: string
  readonly goal: number
  readonly against: string
  readonly ours: (reeve: Reeve, line: string) => Promise<void>
  readonly floor: (line: string, file: string) => Promise<unknown>
  /** The expected length of the output. */
  readonly stored: number
}

async function* flowed(setup: Setup, { bytes, rounds }: Size, flow: Flow): AsyncGenerator<Figure> {
  const folder = freshFolder(setup, 'flow')
  const data = join(folder, 'data')
  const file = join(folder, 'bare.log')
  writeNumberedLines(data, bytes)
  const line = `cat ${quoted(data)}`
  const { reeve, keeperPid, close } = await openReeve(setup)
  const floor = async () => {
    rmSync(file, { force: true })
    await flow.floor(line, file)
    if (statSync(file).size !== flow.stored) throw new Error('The floor has lost output.')
  }
  try {
    resetPeakRss(keeperPid)
    const { first, ratio } = await inTurns(
      rounds,
      () => rate(bytes, () => flow.ours(reeve, line)),
      () => rate(bytes, floor),
    )
    const name = `${bytes / MB} MB of ${flow.name}`
    yield figure(name, first, 'MB/s', { ratio, against: flow.against }, ratioAtLeast(flow.goal))
    const peak = peakRssBytes(keeperPid) / MB
    yield figure(`${name}: keeper's peak memory`, peak, 'MB', undefined, valueAtMost(KEEPER_MB, 'MB'))
  } finally {
    await close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** When the end is known, all output is in the log; the outcome says how much. */
async function ended(
  reeve: Reeve,
  line: string,
  stored: number,
  how: { readonly pty?: boolean },
  needle?: string,
): Promise<void> {
  const { record } = await reeve.spawn(command(line, how))
  const { pid } = record
  const found =
    needle === undefined ? undefined : reeve.wait({ pid, until: { text: needle }, timeoutMs: LONG_MS })
  const waited = await reeve.wait({ pid, timeoutMs: LONG_MS })
  const heard = await found
  if (heard !== undefined && heard.type !== 'matched')
    throw new Error(`The line was not found: ${heard.type}.`)
  const { outputBytes } = await reeve.usage({ pid })
  if (waited.type !== 'ended' || outputBytes !== stored)
    throw new Error(`${waited.type} with ${outputBytes} bytes of output instead of ${stored}.`)
}

async function rate(bytes: number, run: () => Promise<unknown>): Promise<number> {
  const begun = now()
  await run()
  return bytes / MB / ((now() - begun) / 1_000)
}
