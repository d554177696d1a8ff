import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Reeve } from '../../src/index.ts'
import { now, quantile, sleep } from '../clock.ts'
import { type Figure, figure, type Goal, valueAtMost } from '../figure.ts'
import { runThroughPipe } from './bare.ts'
import { command, freshFolder, openReeve, quoted, type Setup } from './setup.ts'

const WARM_UP = 5
/** Long enough for the previous sample to be over. */
const IDLE_MS = 12
const MAX_ABOVE_BARE_MS = 3
const P99_MS = 25

/** Call → first byte at the caller, and exit → the caller knows; one at a time. */
export async function* latency(
  setup: Setup,
  { starts, exits }: { starts: number; exits: number },
): AsyncGenerator<Figure> {
  const { reeve, close } = await openReeve(setup)
  const folder = freshFolder(setup, 'latency')
  let serial = 0
  const fresh = (name: string) => join(folder, `${serial++}.${name}`)
  try {
    const start = await sampled(
      starts,
      () => startOfReeve(reeve),
      () => startOfBare(fresh('log')),
    )
    yield* figures('call → first output byte', start)
    const exit = await sampled(
      exits,
      () => exitOf(fresh('at'), (line) => ranByReeve(reeve, line)),
      () => exitOf(fresh('at'), (line) => runThroughPipe(line, fresh('log')).exited),
    )
    yield* figures('exit → caller knows', exit)
  } finally {
    await close()
  }
}

async function startOfReeve(reeve: Reeve): Promise<number> {
  const begun = now()
  const { record } = await reeve.spawn(command('echo hi'))
  const { pid } = record
  const at = await firstByte(reeve, pid)
  await reeve.wait({ pid })
  return at - begun
}

async function firstByte(reeve: Reeve, pid: string): Promise<number> {
  for await (const _ of reeve.followOutput({ pid })) return now()
  throw new Error(`${pid} printed nothing.`)
}

async function startOfBare(log: string): Promise<number> {
  const begun = now()
  const { firstByte, stored } = runThroughPipe('echo hi', log)
  await firstByte
  const took = now() - begun
  await stored
  return took
}

/** The command records the time as its last act. */
async function exitOf(file: string, run: (line: string) => Promise<unknown>): Promise<number> {
  const script = `sleep 0.08; printf %s "$EPOCHREALTIME" > ${quoted(file)}`
  await run(`exec bash -c ${quoted(script)}`)
  const known = performance.timeOrigin + performance.now()
  return known - Number(readFileSync(file, 'utf8').replace(',', '.')) * 1_000
}

async function ranByReeve(reeve: Reeve, line: string): Promise<void> {
  const { record } = await reeve.spawn(command(line))
  await reeve.wait({ pid: record.pid })
}

interface Sampled {
  readonly ours: readonly number[]
  readonly floor: readonly number[]
}

/** In turns, sample by sample: a machine that is slow for a while is slow for both. */
async function sampled(
  samples: number,
  ours: () => Promise<number>,
  floor: () => Promise<number>,
): Promise<Sampled> {
  const all = { ours: [] as number[], floor: [] as number[] }
  for (let sample = -WARM_UP; sample < samples; sample++) {
    const one = await ours()
    await sleep(IDLE_MS)
    const other = await floor()
    await sleep(IDLE_MS)
    if (sample < 0) continue
    all.ours.push(one)
    all.floor.push(other)
  }
  return all
}

function* figures(name: string, { ours, floor }: Sampled): Generator<Figure> {
  const compared = (part: number) => ({
    ratio: quantile(ours, part) / quantile(floor, part),
    against: `bare pipe into a file (${quantile(floor, part).toFixed(1)} ms)`,
  })
  const p50: Goal = {
    ...valueAtMost(quantile(floor, 0.5) + MAX_ABOVE_BARE_MS, 'ms'),
    text: `≤ bare + ${MAX_ABOVE_BARE_MS} ms`,
  }
  yield figure(`${name}: p50`, quantile(ours, 0.5), 'ms', compared(0.5), p50)
  yield figure(`${name}: p99`, quantile(ours, 0.99), 'ms', compared(0.99), valueAtMost(P99_MS, 'ms'))
}
