import { isDeepStrictEqual } from 'node:util'
import type { ProcessRecord, Reeve } from 'reeve'
import { expect, test } from 'vitest'
import { isLongRun } from '../long-run.ts'
import { Random } from '../simulation/random.ts'
import { bytesOf, ended, start, TempReeve } from './commands.ts'

const AT_ONCE = 16
/** One kill in ten meets the exit: a wrong outcome of such a meeting shows in the first hundred. */
const KILLS = isLongRun ? 1_000 : 200
const INTERRUPTS = isLongRun ? 1_000 : 200
const EXITS = isLongRun ? 500 : 200

/** Runs `task` for 0 … count − 1, some at once, and returns the results. */
async function each<Result>(count: number, task: (index: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  const next = Array.from({ length: count }, (_, index) => index).values()
  const some = async () => {
    for (const index of next) results[index] = await task(index)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, some))
  return results
}

/** How many times each process is said to have ended, in the one order of all events. */
async function endsOf(reeve: Reeve): Promise<Map<string, number>> {
  const ends = new Map<string, number>()
  for (let after = 0; ; ) {
    const { events, position } = await reeve.changes({ after, limit: 1_000 })
    if (events.length === 0) return ends
    for (const { pid, type } of events) if (type === 'ended') ends.set(pid, (ends.get(pid) ?? 0) + 1)
    after = position
  }
}

async function once(reeve: Reeve, pids: readonly string[]): Promise<void> {
  const ends = await endsOf(reeve)
  expect(ends.size).toBe(pids.length)
  expect(pids.filter((pid) => ends.get(pid) !== 1)).toEqual([])
}

test(`exit 7, ${EXITS} times: as many outcomes with code 7 and all their output`, async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const lines = await each(EXITS, async (index) => {
    const { pid } = await start(reeve, `echo out ${index}; echo err ${index} >&2; exit 7`)
    const { outcome } = await ended(reeve, pid)
    const text = (await bytesOf(reeve, pid)).toString()
    return { pid, how: `${outcome?.status} ${outcome?.exitCode} ${outcome?.signal} ${outcome?.reason}`, text }
  })
  expect(lines.filter(({ how }) => how !== 'failed 7 null null')).toEqual([])
  expect(lines.filter(({ text }, index) => text !== `out ${index}\nerr ${index}\n`)).toEqual([])
  await once(
    reeve,
    lines.map(({ pid }) => pid),
  )
  expect((await reeve.list()).processes).toEqual([])
  expect(temp.programs()).toEqual([])
  expect(temp.troubles).toEqual([])
})

test(`a kill that races the natural exit, ${KILLS} times: one end each, and the reply agrees with it`, {
  timeout: 300_000,
}, async () => {
  const seed = 20_260_101
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const random = new Random(seed)
  const delays = Array.from({ length: KILLS }, () => random.between(0, 9))
  const seen = { ended: 0, already_ended: 0, asked: 0, unrecorded: 0 }
  const replies = await each(delays.length, async (index) => {
    const delay = delays[index] ?? 0
    const argv = delay === 0 ? ['true'] : ['sleep', `0.00${delay}`]
    const { pid } = await start(reeve, { argv })
    for (let turn = random.between(0, 12); turn > 0; turn--) await new Promise(setImmediate)
    const { type: answer, record } = await reeve.kill({ pid })
    seen[answer] += 1
    return { pid, answer, record }
  })
  const wrong = await disagreeing(reeve, replies, 'killed')
  expect(wrong, `seed ${seed}`).toEqual([])
  expect([seen.asked, seen.unrecorded]).toEqual([0, 0])
  await once(
    reeve,
    replies.map(({ pid }) => pid),
  )
  expect(temp.programs()).toEqual([])
  expect(temp.troubles).toEqual([])
})

test(`an interrupt that races completion, ${INTERRUPTS} times: no ended state is left, and the reply agrees`, {
  timeout: 300_000,
}, async () => {
  const seed = 20_260_102
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const random = new Random(seed)
  const delays = Array.from({ length: INTERRUPTS }, () => random.between(0, 9))
  const replies = await each(delays.length, async (index) => {
    const delay = delays[index] ?? 0
    const argv = delay === 0 ? ['true'] : ['sleep', `0.00${delay}`]
    const { pid } = await start(reeve, { argv })
    for (let turn = random.between(0, 12); turn > 0; turn--) await new Promise(setImmediate)
    const report = await reeve.interrupt({ scope: { pid } })
    expect(report).toMatchObject({ matched: 1, stale: [], failed: [] })
    const before = await reeve.show({ pid })
    const record = await ended(reeve, pid)
    if (before.outcome !== null) expect(record).toEqual(before)
    return { pid, answer: report.signalled.length === 1 ? 'signalled' : 'already_ended', record }
  })
  expect(await disagreeing(reeve, replies, 'interrupted'), `seed ${seed}`).toEqual([])
  await once(
    reeve,
    replies.map(({ pid }) => pid),
  )
  expect(temp.programs()).toEqual([])
  expect(temp.troubles).toEqual([])
})

/** Replies that say something else than the record does now, or a record that could not have come about. */
async function disagreeing(
  reeve: Reeve,
  replies: readonly { pid: string; answer: string; record: ProcessRecord }[],
  reason: string,
): Promise<string[]> {
  const wrong: string[] = []
  for (const { pid, answer, record } of replies) {
    const now = await reeve.show({ pid })
    const { status, exitCode, signal, reason: why, source } = now.outcome ?? {}
    const natural = `${status} ${exitCode} ${signal} ${why}` === 'completed 0 null null'
    const byUs = status === 'cancelled' && why === reason && source === 'host'
    const agrees = isDeepStrictEqual(now, record)
    // `already_ended` means a natural end. Other answers allow both: the program may have exited before the signal.
    if (!agrees || !(natural || (byUs && answer !== 'already_ended')))
      wrong.push(`${pid} ${answer} ${JSON.stringify(now.outcome)} ${agrees}`)
  }
  return wrong
}
