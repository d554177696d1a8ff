import { expect, test } from 'vitest'
import { joined, memoryOf, usageOf } from '../../../src/keeper/tree/usage.ts'
import { TestProgram } from './program.ts'

const MB = 1 << 20

test('a tree is measured by sampling, with the usage of ended children', async () => {
  using started = new TestProgram(`
    sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'
    head -c 4194304 /dev/zero > file; sync file
    echo $$ >> "$PIDS"; exec sleep 300`)
  await started.whenThereAre(1)
  const usage = usageOf(started.program, started.marker)
  expect(usage.sampled).toBe(true)
  expect(usage.cpuMs).toBeGreaterThan(0)
  expect(usage.cpuMs! % 10).toBe(0)
  expect(usage.peakMemoryBytes).toBeGreaterThan(100_000)
  expect(usage.peakMemoryBytes).toBeLessThan(100 * MB)
  if (usage.writtenBytes !== null) expect(usage.writtenBytes % 512).toBe(0)
})

test('memory is that of the whole tree', async () => {
  const hold = `"$NODE" -e "globalThis.held = Buffer.alloc(64 << 20, 1); require('fs').appendFileSync(process.env.PIDS, process.pid + '\\n'); setInterval(() => {}, 1000)"`
  using started = new TestProgram(`NODE="${process.execPath}"; ${hold} & (setsid ${hold} &); wait`)
  await started.whenThereAre(2)
  expect(memoryOf(started.program, started.marker)).toBeGreaterThan(128 * MB)
  const { peakMemoryBytes, memoryBytes } = usageOf(started.program, started.marker)
  expect(peakMemoryBytes).toBeGreaterThan(128 * MB)
  expect(memoryBytes).toBeGreaterThan(128 * MB)
})

test('the usage of a gone tree is unknown', async () => {
  using started = new TestProgram('exit 0')
  await started.exited
  expect(usageOf(started.program, started.marker)).toEqual({
    cpuMs: null,
    peakMemoryBytes: null,
    memoryBytes: null,
    readBytes: null,
    writtenBytes: null,
    sampled: true,
  })
  expect(memoryOf(started.program, started.marker)).toBe(0)
})

test('measured usage never decreases', () => {
  const earlier = { cpuMs: 30, peakMemoryBytes: 900, readBytes: null, writtenBytes: 5, sampled: true }
  const later = { cpuMs: null, peakMemoryBytes: 100, readBytes: 7, writtenBytes: 6, sampled: true }
  expect(joined(earlier, later)).toEqual({
    cpuMs: 30,
    peakMemoryBytes: 900,
    readBytes: 7,
    writtenBytes: 6,
    sampled: true,
  })
  expect(joined(null, { ...later, memoryBytes: 50 })).toEqual(later)
})
