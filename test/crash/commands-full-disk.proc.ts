import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Reeve } from 'reeve'
import { expect, onTestFinished } from 'vitest'
import { ended, start, TempReeve, textOf } from '../command/commands.ts'
import { until } from '../keeper/client.ts'
import { NEEDS_MOUNT, testIf } from '../reporting/test-if.ts'
import { canMount } from '../small-disk.ts'

const MiB = 1024 * 1024

/** A temporary Reeve whose command data lies on a small disk; its store does not. */
function onSmallDisk(bytes: number): TempReeve {
  const temp = new TempReeve()
  const { folder } = temp.keeperHome
  mkdirSync(folder)
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=700`, 'reeve-test', folder])
  // Runs before the folder is removed. Lazily, because a test that failed may have left something there.
  onTestFinished(() => void spawnSync('umount', ['-l', folder]))
  return temp
}

const free = (folder: string) => {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

/** Leaves about so much. */
function fill(temp: TempReeve, leave: number): () => void {
  const ballast = join(temp.keeperHome.folder, 'ballast')
  writeFileSync(ballast, Buffer.alloc(Math.max(0, free(temp.keeperHome.folder) - leave)))
  return () => rmSync(ballast)
}

const LINES = 400_000
/** About 2.7 MB. */
const COUNTING = { argv: ['seq', '1', String(LINES)] as [string, ...string[]] }
const WHOLE = Array.from({ length: LINES }, (_, index) => `${index + 1}\n`).join('')

/** The length of the log when the keeper has told that the disk holds the command back. */
async function heldBack(temp: TempReeve, reeve: Reeve, pid: string): Promise<number> {
  await until('the trouble is told', () => temp.troubles.some((line) => /disk|space|free/i.test(line)))
  return (await reeve.output({ pid, limit: 1 })).end
}

for (const [name, minFreeBytes, leave] of [
  ['a nearly full disk holds a command back before it is full', MiB, MiB + 600_000],
  ['a disk that takes nothing any more holds a command back', 1, 600_000],
] as const) {
  testIf(canMount, NEEDS_MOUNT)(`${name}, nothing is lost when there is space again`, async () => {
    await using temp = onSmallDisk(8 * MiB)
    const reeve = await temp.embed({ output: { minFreeBytes, tailBytes: 64 * MiB } })
    const other = await start(reeve, { argv: ['sleep', '1000'] })
    const makeRoom = fill(temp, leave)
    const { pid } = await start(reeve, COUNTING)
    expect(await heldBack(temp, reeve, pid)).toBeLessThan(WHOLE.length)
    expect((await reeve.show({ pid })).status).toBe('running')
    expect((await reeve.show({ pid: other.pid })).status).toBe('running')
    const polled = await reeve.poll({ pid, cursor: 'o0' })
    expect(polled.text).toMatch(/^1\n2\n3\n/)
    const { processes } = await reeve.list()
    const held = processes.flatMap(({ record, heldBack }) => (heldBack === undefined ? [] : [record.pid]))
    expect([polled.heldBack?.since, held]).toEqual([(await reeve.show({ pid })).heldBack?.since, [pid]])
    expect((await reeve.status()).troubles).toMatchObject([{ code: 'output_held_back' }])
    makeRoom()
    expect((await ended(reeve, pid)).outcome).toMatchObject({ status: 'completed', exitCode: 0 })
    expect((await textOf(reeve, pid)) === WHOLE).toBe(true)
    await until('no trouble is left', async () => (await reeve.status()).troubles.length === 0)
    expect((await reeve.kill({ pid: other.pid })).type).toBe('ended')
  })
}

testIf(canMount, NEEDS_MOUNT)(
  'a command that is held back by a full disk can be killed, and its record is kept',
  async () => {
    await using temp = onSmallDisk(8 * MiB)
    const reeve = await temp.embed({ output: { minFreeBytes: MiB, tailBytes: 64 * MiB } })
    const makeRoom = fill(temp, MiB + 600_000)
    const { pid } = await start(reeve, COUNTING)
    await heldBack(temp, reeve, pid)
    const { type: answer, record } = await reeve.kill({ pid })
    expect([answer, record.outcome?.status, record.outcome?.reason]).toEqual(['ended', 'cancelled', 'killed'])
    expect(WHOLE.startsWith(await textOf(reeve, pid))).toBe(true)
    makeRoom()
    expect((await ended(reeve, (await start(reeve, 'exit 3')).pid)).outcome).toMatchObject({ exitCode: 3 })
  },
)

testIf(canMount, NEEDS_MOUNT)(
  'on a disk without room a command that prints little still ends with its code',
  async () => {
    await using temp = onSmallDisk(8 * MiB)
    const reeve = await temp.embed({ output: { minFreeBytes: MiB, tailBytes: 64 * MiB } })
    const makeRoom = fill(temp, MiB - 100_000)
    const { pid } = await start(reeve, { argv: ['sh', '-c', 'exit 6'] })
    expect((await ended(reeve, pid)).outcome).toMatchObject({ status: 'failed', exitCode: 6 })
    makeRoom()
  },
)
