import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { expect, test } from 'vitest'
import { startProgram } from '../crash/program.ts'
import { startPostgres } from '../postgres-server.ts'
import { tempFolder } from '../temp-file.ts'

const COUNT = 100

test('SQLite: every acknowledged batch has been flushed to the disk', async () => {
  const folder = tempFolder()
  const file = join(folder, 'reeve.db')
  const log = join(folder, 'flushes')
  const traced = canTrace() ? countingFlushes(log) : []
  const before = flushesOfDisk(folder)
  // One at a time: each spawn and each append is a batch of its own, and must have its own flush.
  const spawner = await startProgram('spawner', [file, '1', String(COUNT)], traced)
  await spawner.says('done')
  await spawner.ended()
  expect(spawner.said.filter((line) => 'acknowledged' in line)).toHaveLength(COUNT)
  const flushed = traced.length > 0 ? flushesOf(log) : flushesOfDisk(folder) - before
  expect(flushed).toBeGreaterThanOrEqual(2 * COUNT)
  // Exact only where this program alone is counted: opening, checkpoints and the close add a few.
  if (traced.length > 0) expect(flushed).toBeLessThan(2 * COUNT + 50)
})

test('SQLite: what comes at once is flushed together', async () => {
  const folder = tempFolder()
  const log = join(folder, 'flushes')
  if (!canTrace()) {
    // Without a trace the flushes of one program cannot be told from those of others: only that there are some.
    expect(flushesOfDisk(folder)).toBeGreaterThan(0)
    return
  }
  const spawner = await startProgram(
    'spawner',
    [join(folder, 'reeve.db'), '50', '1000'],
    countingFlushes(log),
  )
  await spawner.says('done')
  await spawner.ended()
  const flushed = flushesOf(log)
  expect(flushed).toBeGreaterThanOrEqual((2 * 1_000) / 256)
  expect(flushed).toBeLessThan(1_000)
})

test('PostgreSQL: every acknowledged batch has been flushed to the write-ahead log', async () => {
  const server = await startPostgres()
  try {
    const sql = postgres(server.url, { max: 1 })
    const flushes = async () => {
      const [row] = await sql<{ count: string }[]>`
        select coalesce(sum(fsyncs), 0) as count from pg_stat_io where object = 'wal'`
      return Number(row?.count)
    }
    const before = await flushes()
    const spawner = await startProgram('spawner', [server.url, '1', String(COUNT)])
    await spawner.says('done')
    // A server process reports what it did when it ends.
    await spawner.ended()
    await expect
      .poll(async () => (await flushes()) - before, { timeout: 20_000 })
      .toBeGreaterThanOrEqual(2 * COUNT)
    await sql.end()
  } finally {
    await server.stop()
  }
})

/** Where it is there and allowed, it counts the flushes of one program; else only the disk's own counter is left. */
const STRACE = 'strace'

function countingFlushes(log: string): string[] {
  return [STRACE, '-f', '-qq', '-c', '-U', 'calls,name', '-e', 'trace=fsync,fdatasync', '-o', log]
}

function canTrace(): boolean {
  return spawnSync(STRACE, ['-o', '/dev/null', 'true'], { stdio: 'ignore' }).status === 0
}

/** What strace counted: one line per system call, the number first. */
function flushesOf(log: string): number {
  const counts = readFileSync(log, 'utf8').matchAll(/^\s*(\d+)\s+(?:fsync|fdatasync)\s*$/gm)
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}

/** How many flushes the disk under a folder has been asked for, by anybody. */
function flushesOfDisk(folder: string): number {
  const { dev } = statSync(folder)
  const [major, minor] = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)]
  return Number(readFileSync(`/sys/dev/block/${major}:${minor}/stat`, 'utf8').trim().split(/\s+/)[15])
}
