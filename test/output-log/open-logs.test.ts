import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { OutputLog } from '../../src/keeper/program/output-log.ts'
import { maxOpenLogs, OpenLogs } from '../../src/output-log/open-logs.ts'
import { tempFolder } from '../temp-folder.ts'

const CAPS = { headBytes: 1024, tailBytes: 4096, segmentBytes: 1024, minFreeBytes: 0 }
const EVENTS = { flows() {}, dropped() {}, trouble() {}, heldBackChanged() {} }

function descriptorsBelow(folder: string): number {
  const targets = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`)
    } catch {
      // The descriptor of the listing itself is gone by now.
      return ''
    }
  })
  return targets.filter((target) => target.startsWith(folder)).length
}

test('logs that are written in turn have no more files open than two of them need, and lose nothing', () => {
  const folder = tempFolder()
  const openLogs = new OpenLogs(2)
  const logs = [0, 1, 2, 3, 4].map((at) => new OutputLog(join(folder, `p_${at}`), CAPS, EVENTS, openLogs))
  onTestFinished(() => {
    for (const log of logs) log.close()
  })
  for (const round of [1, 2, 3]) {
    for (const [at, log] of logs.entries()) log.append(Buffer.from(`log ${at} round ${round}\n`), null)
    expect(openLogs.size).toBe(2)
    // A segment each, and an index where a time was due.
    expect(descriptorsBelow(folder)).toBeLessThanOrEqual(4)
  }
  for (const log of logs) log.close()
  expect([openLogs.size, descriptorsBelow(folder)]).toEqual([0, 0])
  for (const at of logs.keys())
    expect(readFileSync(join(folder, `p_${at}`, '0'.repeat(15)), 'utf8')).toBe(
      [1, 2, 3].map((round) => `log ${at} round ${round}\n`).join(''),
    )
})

test('the fewer descriptors there may be, the fewer logs have their files open', () => {
  expect([256, 1024, Number.POSITIVE_INFINITY, 32].map(maxOpenLogs)).toEqual([16, 64, 256, 4])
})
