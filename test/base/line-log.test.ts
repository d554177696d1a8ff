import { expect, test, vi } from 'vitest'
import { LineLog } from '../../src/base/line-log.ts'

/** A file that takes so many bytes more. */
class Disk {
  text = ''
  free = Number.POSITIVE_INFINITY

  readonly write = (_fd: number, bytes: Buffer) => {
    const taken = bytes.subarray(0, this.free)
    if (taken.length === 0) throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' })
    this.free -= taken.length
    this.text += taken.toString()
    return taken.length
  }
}

const logOn = (disk: Disk) => new LineLog(1, { lostLine: (count) => `${count} lost`, write: disk.write })

test('lines that a full disk does not take are written in order when there is space', () => {
  vi.useFakeTimers()
  try {
    const disk = new Disk()
    const log = logOn(disk)
    log.write('one\n')
    disk.free = 2
    log.write('two\n')
    log.write('three\n')
    expect(disk.text).toBe('one\ntw')
    expect(log.trouble).toMatchObject({ waiting: 2, lost: 0, message: expect.stringContaining('ENOSPC') })
    vi.advanceTimersByTime(60_000)
    expect(log.trouble).toMatchObject({ waiting: 2 })
    disk.free = Number.POSITIVE_INFINITY
    vi.advanceTimersByTime(5_000)
    log.write('four\n')
    expect(disk.text).toBe('one\ntwo\nthree\nfour\n')
    expect(log.trouble).toBeNull()
  } finally {
    vi.useRealTimers()
  }
})

test('lines beyond the bound are counted, and the count is written when there is space', () => {
  vi.useFakeTimers()
  try {
    const disk = new Disk()
    disk.free = 0
    const log = logOn(disk)
    const line = `${'x'.repeat(64 * 1024 - 1)}\n`
    for (let count = 0; count < 10; count++) log.write(line)
    expect(log.trouble).toMatchObject({ waiting: 4, lost: 6 })
    disk.free = Number.POSITIVE_INFINITY
    vi.advanceTimersByTime(5_000)
    expect(disk.text).toBe(`${line.repeat(4)}6 lost\n`)
    expect(log.trouble).toBeNull()
  } finally {
    vi.useRealTimers()
  }
})
