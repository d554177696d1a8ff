import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { findByMarker, membersOf } from '../../../src/keeper/tree/members.ts'
import { ProcTable } from '../../../src/keeper/tree/proc-table.ts'
import {
  HOPPING,
  lives,
  MAX_HOPS,
  STUBBORN,
  STUBBORN_TREE,
  TestProgram,
  until,
  withMarker,
} from './program.ts'

test('by the marker alone the whole tree is found, wherever its processes went', async () => {
  using started = new TestProgram(STUBBORN_TREE)
  await started.whenThereAre(STUBBORN)
  await until('all have their last child', () => withMarker(started.marker).length === 9)
  const found = membersOf(started.program, started.marker).map(({ osPid }) => osPid)
  expect(found.toSorted()).toEqual(withMarker(started.marker).toSorted())
  expect(found).toEqual(expect.arrayContaining(started.osPids))
})

test('when the program itself is gone, the rest of its tree is still found', async () => {
  using started = new TestProgram(STUBBORN_TREE)
  const osPids = await started.whenThereAre(STUBBORN)
  process.kill(started.program.osPid, 'SIGKILL')
  await started.exited
  const rest = osPids.filter((osPid) => osPid !== started.program.osPid)
  const found = membersOf(started.program, started.marker).map(({ osPid }) => osPid)
  expect(found).toEqual(expect.arrayContaining(rest))
  expect(findByMarker(started.marker).map(({ osPid }) => osPid)).toEqual(expect.arrayContaining(rest))
})

test('a search by marker names parents before children', async () => {
  using started = new TestProgram(
    'echo $$ >> "$PIDS"; sh -c \'echo $$ >> "$PIDS"; sh -c "echo \\$\\$ >> \\$PIDS; exec sleep 300" & wait\' & wait',
  )
  const osPids = await started.whenThereAre(3)
  const found = findByMarker(started.marker)
  expect(found.map(({ osPid }) => osPid)).toEqual(osPids)
  expect(found[0]).toEqual({
    osPid: started.program.osPid,
    startTime: started.program.startTime,
    ppid: process.pid,
    name: 'sh',
  })
})

test('a marker that only begins the same is another', async () => {
  using started = new TestProgram('echo $$ >> "$PIDS"; exec sleep 300')
  await started.whenThereAre(1)
  expect(findByMarker(started.marker.slice(0, -1))).toEqual([])
  expect(findByMarker(`${started.marker}x`)).toEqual([])
  expect(findByMarker(started.marker)).toHaveLength(1)
})

test('a keeper that carries a marker itself does not find itself, nor those above it', async () => {
  const finder = fileURLToPath(new URL('fixtures/find-own-marker.ts', import.meta.url))
  const script = '"$NODE" "$FINDER"; exit $?'
  const found = execFileSync('sh', ['-c', script], {
    encoding: 'utf8',
    env: { ...process.env, NODE: process.execPath, FINDER: finder, REEVE_PROCESS: 'p_own@home' },
  })
  expect(JSON.parse(found)).toEqual({ byMarker: ['sleep'], members: ['sleep'] })
})

test('one that goes from process to process, each for some milliseconds, is found in every look', async () => {
  using hopping = new TestProgram(HOPPING)
  await until('it hops', () => (hopping.read('hops') ?? '').length > 20)
  const hops = () => hopping.read('hops')?.length ?? 0
  let whole = 0
  // On a busy machine it may have made all its hops before the last look.
  for (let look = 0; look < 50 && hops() < MAX_HOPS; look++) {
    const table = ProcTable.read(Number(hopping.program.startTime))
    const found = findByMarker(hopping.marker, table).length
    if (table.isWhole && hops() < MAX_HOPS) {
      whole++
      expect(found, `look ${look}`).toBeGreaterThan(0)
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(whole).toBeGreaterThan(0)
})

test('a helper that the keeper runs beside the program is not in its tree', async () => {
  using started = new TestProgram('echo $$ >> "$PIDS"; exec sleep 300')
  await started.whenThereAre(1)
  const beside = spawn('sleep', ['300'], { env: { ...process.env, REEVE_PROCESS: started.marker } })
  try {
    await until('it runs', () => withMarker(started.marker).length === 2)
    expect(membersOf(started.program, started.marker).map(({ osPid }) => osPid)).toEqual([
      started.program.osPid,
    ])
    expect(lives(beside.pid!)).toBe(true)
  } finally {
    beside.kill('SIGKILL')
    await once(beside, 'exit')
  }
})
