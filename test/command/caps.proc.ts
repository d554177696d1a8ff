import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../keeper/client.ts'
import { ended, start, TempReeve } from './commands.ts'

const LINE = 16
const FIRST = 100_000_000_000_000

/** Prints numbered lines of sixteen bytes, so that the text of a line gives its offset. */
function flood(bytes: number): { argv: [string, ...string[]] } {
  return { argv: ['seq', String(FIRST), String(FIRST + bytes / LINE - 1)] }
}

function expectAtOffset(text: string, offset: number): void {
  const skipped = (LINE - (offset % LINE)) % LINE
  const lines = text.slice(skipped, text.length - ((text.length - skipped) % LINE)).split('\n')
  lines.pop()
  const from = FIRST + (offset + skipped) / LINE
  const wrong = lines.findIndex((line, index) => line !== String(from + index))
  expect(wrong, `line ${wrong} behind ${offset} is ${lines[wrong]}`).toBe(-1)
}

/**
 * The size of a log on disk: its segments, and its index of times. Files only grow until they are deleted, so a sum is a valid
 * snapshot if the list of files was the same before and after; otherwise it is counted again.
 */
function onDisk(folder: string): { segments: number; index: number } {
  for (;;) {
    const names = namesIn(folder)
    const found = { segments: 0, index: 0 }
    for (const name of names) {
      const bytes = blocksOf(join(folder, name))
      if (/^\d{15}$/.test(name)) found.segments += bytes
      else found.index += bytes
    }
    if (namesIn(folder).join() === names.join()) return found
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    // Not begun yet.
    return []
  }
}

function blocksOf(path: string): number {
  try {
    return statSync(path).blocks * 512
  } catch {
    // A segment that has fallen out since it was listed.
    return 0
  }
}

const KiB = 1024
const MiB = 1024 * KiB

test.each([
  ['through a pipe', 'merged'],
  ['written by the program itself', 'direct'],
] as const)(
  'a gigabyte of output, %s, has no more on disk than its cap and a segment, and names its gap',
  {
    timeout: 300_000,
  },
  async (_, output) => {
    await using temp = new TempReeve()
    const reeve = await temp.embed()
    const total = 1_000_000_000
    const { pid } = await start(reeve, { ...flood(total), output })
    const folder = join(temp.keeperHome.output, pid)
    const most = { segments: 0, index: 0 }
    let done = false
    const whenEnded = ended(reeve, pid).finally(() => {
      done = true
    })
    while (!done) {
      const now = onDisk(folder)
      most.segments = Math.max(most.segments, now.segments)
      most.index = Math.max(most.index, now.index)
      const { end } = await reeve.output({ pid, limit: 1 })
      const page = await reeve.output({ pid, offset: Math.max(0, end - 64 * KiB) })
      expectAtOffset(Buffer.from(page.bytes).toString(), page.offset)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    const { outcome } = await whenEnded
    expect(outcome).toMatchObject({ status: 'completed', exitCode: 0, result: { outputBytes: total } })
    // A segment, and the chunk that begins the next one before the oldest goes. What a program writes by itself is cut back
    // every so often, and how much it writes in between is up to the machine.
    const bound = 256 * KiB + 8 * MiB + MiB + 64 * KiB
    if (output === 'merged') expect(most.segments).toBeLessThanOrEqual(bound)
    else await until('the rest is freed', () => onDisk(folder).segments <= bound + MiB)
    expect(most.index).toBeLessThanOrEqual(MiB)

    const head = await reeve.output({ pid, offset: 0, limit: MiB })
    expect([head.offset, head.gap, head.end]).toEqual([0, null, total])
    expect(head.bytes.length).toBeGreaterThanOrEqual(256 * KiB)
    expectAtOffset(Buffer.from(head.bytes).toString(), 0)
    const afterGap = async () => (await reeve.output({ pid, offset: head.next, limit: 1 })).offset
    await until('the last of the middle is gone', async () => (await afterGap()) > total - 10 * MiB)
    const gap = { from: head.next, to: await afterGap() }
    expect(gap.to).toBeLessThanOrEqual(total - 8 * MiB)

    for (const offset of [gap.from, gap.from + 1, 500_000_000, gap.to - 1]) {
      const inside = await reeve.output({ pid, offset, limit: 64 * KiB })
      expect([inside.offset, inside.gap]).toEqual([gap.to, { from: offset, to: gap.to }])
      expectAtOffset(Buffer.from(inside.bytes).toString(), gap.to)
    }
    const before = await reeve.poll({ pid, cursor: `o${gap.from - LINE}` })
    const behind = before.truncated.length > 0 ? before : await reeve.poll({ pid, cursor: before.cursor })
    expect([before.more, behind.truncated]).toEqual([true, [gap]])
    const log = await reeve.log({ pid, from: 'end', limit: 3 })
    expect(log.truncated).toEqual([gap])
    expect(log.lines.at(-1)).toMatchObject({
      offset: total - LINE,
      text: String(FIRST + total / LINE - 1),
    })
    const found = await reeve.search({ pid, text: String(FIRST + total / LINE - 5) })
    expect([found.truncated, found.matches.map(({ offset }) => offset)]).toEqual([[gap], [total - 5 * LINE]])
    expect((await reeve.search({ pid, text: String(FIRST + 31_250_000) })).matches).toEqual([])
  },
)

test('a limit of output ends the command, and says so', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, { argv: ['yes'], limits: { outputBytes: 100_000 } })
  expect((await ended(reeve, pid)).outcome).toMatchObject({
    status: 'cancelled',
    reason: 'limit:outputBytes',
  })
})

test('a command that ends before its excess output is noticed still reports the limit, with its exit code', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, { argv: ['seq', '100'], limits: { outputBytes: 20 } })
  expect((await ended(reeve, pid)).outcome).toMatchObject({
    status: 'cancelled',
    reason: 'limit:outputBytes',
    result: { outputBytes: 292 },
  })
})

test('a reader that never comes does not slow the command down, nor a slow one', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, flood(16_000_000))
  const following = reeve.followOutput({ pid })[Symbol.asyncIterator]()
  await following.next()
  expect((await ended(reeve, pid)).outcome).toMatchObject({ exitCode: 0 })
  let read = 0
  const gaps: { from: number; to: number }[] = []
  for (let piece = await following.next(); !piece.done; piece = await following.next()) {
    if (piece.value.gap !== null) gaps.push(piece.value.gap)
    read = piece.value.offset + piece.value.bytes.length
  }
  expect([read, gaps.length]).toEqual([16_000_000, 1])
})
