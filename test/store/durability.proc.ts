/**
 * Acknowledged writes are flushed, by the best evidence that the machine gives; each test is annotated with its evidence.
 *
 * 1. strace, where it is installed and allowed: exact, the flushes of one program.
 * 2. The disk's own count of flushes, where it is known to count those of the temporary folder.
 * 3. Else the settings that SQLite reports.
 */
import { spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import postgres from 'postgres'
import { embed } from 'reeve'
import { openSqlite } from 'reeve/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { startProgram } from '../crash/program.ts'
import { startPostgres } from '../postgres-server.ts'
import { tempFolder } from '../temp-folder.ts'

const COUNT = 100
const EXTERNAL = { kind: 'external', spec: { description: 'x' } } as const

test('SQLite: every acknowledged batch has been flushed to the disk', async ({ annotate }) => {
  const folder = tempFolder()
  if (canTrace()) {
    await annotate('evidence: strace')
    // One at a time: each spawn and each append is a batch of its own, and must have its own flush.
    const flushed = await tracedFlushes(folder, 1, COUNT)
    expect(flushed).toBeGreaterThanOrEqual(2 * COUNT)
    // Opening, checkpoints and the close add a few.
    expect(flushed).toBeLessThan(2 * COUNT + 50)
    return
  }
  const store = await openSqlite(join(folder, 'reeve.db'))
  onTestFinished(() => store.close())
  expect(store.durability.settings).toEqual({ journal_mode: 'wal', synchronous: '2' })
  const flushes = flushCounterOf(folder)
  if (flushes === undefined) {
    await annotate(
      'evidence: settings alone; no strace, and the disk does not count the flushes of this folder',
    )
    return
  }
  const reeve = await embed({ store })
  onTestFinished(() => reeve.close())
  const { unflushed, quiet } = await besideUnsynced(folder, flushes, () => reeve.spawn(EXTERNAL))
  await annotate(
    `evidence: flushes of the disk; it was quiet in ${quiet} of ${COUNT} looks without a flush of ours`,
  )
  // Other programs cannot make this fail: a flushed write has raised the count, whether or not others raised it, too.
  expect(unflushed).toBe(0)
  // And this says that it could have failed. On a disk that others keep flushing it could not, so the settings stand.
  if (quiet < COUNT / 4) await annotate('evidence: settings alone; others kept flushing the disk')
})

test('SQLite: writes that arrive at once share a flush', async ({ annotate }) => {
  const folder = tempFolder()
  if (canTrace()) {
    await annotate('evidence: strace')
    const flushed = await tracedFlushes(folder, 50, 1_000)
    expect(flushed).toBeGreaterThanOrEqual((2 * 1_000) / 256)
    expect(flushed).toBeLessThan(1_000)
    return
  }
  await annotate('evidence: commits; no strace, and others flush the disk too')
  const store = await openSqlite(join(folder, 'reeve.db'))
  onTestFinished(() => store.close())
  const reeve = await embed({ store })
  onTestFinished(() => reeve.close())
  let commits = 0
  store.onCommit(({ events }) => (commits += Number(events !== null)))
  const lane = async () => {
    for (let n = 0; n < 20; n++) await reeve.spawn(EXTERNAL)
  }
  await Promise.all(Array.from({ length: 50 }, lane))
  // At most 256 in one; and 50 callers at a time have had far fewer than one each.
  expect(commits).toBeGreaterThanOrEqual(1_000 / 256)
  expect(commits).toBeLessThan(500)
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
    // A server process reports its statistics when it ends.
    await spawner.ended()
    await expect
      .poll(async () => (await flushes()) - before, { timeout: 20_000 })
      .toBeGreaterThanOrEqual(2 * COUNT)
    await sql.end()
  } finally {
    await server.stop()
  }
})

const STRACE = ['strace', '-f', '-qq', '-c', '-U', 'calls,name', '-e', 'trace=fsync,fdatasync', '-o'] as const

function canTrace(): boolean {
  const [command, ...args] = STRACE
  return spawnSync(command, [...args, '/dev/null', 'true'], { stdio: 'ignore' }).status === 0
}

/** How often a program flushed that wrote `2 * count` batches, if `parallel` is 1, and fewer if it is more. */
async function tracedFlushes(folder: string, parallel: number, count: number): Promise<number> {
  const log = join(folder, 'flushes')
  const args = [join(folder, 'reeve.db'), String(parallel), String(count)]
  const spawner = await startProgram('spawner', args, [...STRACE, log])
  await spawner.says('done')
  await spawner.ended()
  expect(spawner.said.filter((line) => 'acknowledged' in line)).toHaveLength(count)
  // One line per system call, the number first.
  const counts = readFileSync(log, 'utf8').matchAll(/^\s*(\d+)\s+(?:fsync|fdatasync)\s*$/gm)
  return [...counts].reduce((sum, [, calls]) => sum + Number(calls), 0)
}

/**
 * Writes COUNT times, and after each as often, for as long and on the same disk without flushing.
 * `unflushed`: writes that were acknowledged without a flush of the disk. `quiet`: how often it did without when
 * nothing of ours asked for one, and so how surely a write that is not flushed would have been seen.
 */
async function besideUnsynced(folder: string, flushes: () => number, write: () => Promise<unknown>) {
  const other = new DatabaseSync(join(folder, 'unsynced.db'))
  other.exec('pragma journal_mode = wal; pragma synchronous = off; create table note (text)')
  let [unflushed, quiet] = [0, 0]
  for (let n = 0; n < COUNT; n++) {
    const [before, begun] = [flushes(), performance.now()]
    await write()
    const took = performance.now() - begun
    unflushed += Number(flushes() === before)
    const [beforeOther, begunOther] = [flushes(), performance.now()]
    do other.exec(`insert into note values ('x')`)
    while (performance.now() - begunOther < took)
    quiet += Number(flushes() === beforeOther)
  }
  other.close()
  return { unflushed, quiet }
}

/**
 * Reads how many flushes the disk under a folder has done, for anybody. There is none in memory, on a network, on a
 * disk that needs no flushes, in an old kernel, or where the system does not tell; so each candidate is tried first.
 */
function flushCounterOf(folder: string): (() => number) | undefined {
  const file = openSync(join(folder, 'probe'), 'w')
  try {
    return disksUnder(folder)
      .map((disk) => () => Number(readFileSync(join(disk, 'stat'), 'utf8').trim().split(/\s+/)[15]))
      .find((flushes) =>
        Array.from({ length: 10 }).every(() => {
          const before = flushes()
          writeSync(file, 'x')
          fdatasyncSync(file)
          return flushes() > before
        }),
      )
  } finally {
    closeSync(file)
  }
}

/** The device that a folder lies on, the disk it is a part of, and the disks it is made of; as far as they can be seen. */
function disksUnder(folder: string): string[] {
  const { dev } = statSync(folder)
  const [major, minor] = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)]
  const link = `/sys/dev/block/${major}:${minor}`
  if (!existsSync(link)) return []
  const device = realpathSync(link)
  const below = join(device, 'slaves')
  const parts = existsSync(below) ? readdirSync(below).map((name) => realpathSync(join(below, name))) : []
  return [device, ...parts]
    .flatMap((each) => [each, dirname(each)])
    .filter((each) => existsSync(join(each, 'stat')))
}
