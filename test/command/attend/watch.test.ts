import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LineScan } from '../../../src/command/attend/line-scan.ts'
import { type Said, Watch } from '../../../src/command/attend/watch.ts'
import { FLOOD_LIMITS } from '../../../src/core/inbox/flood.ts'

const ALL = { ...FLOOD_LIMITS, everyMs: 0 }
const SPEC = { text: 'ERR' }

/** Scans a log in pieces with crashes after some of them. Each successor continues from the stored state alone. */
function scanned(
  log: Buffer,
  cuts: readonly number[],
  deaths: ReadonlySet<number>,
): { lines: string[]; told: Said[] } {
  const told: Said[] = []
  let scannedTo = 0
  const begin = () => {
    const state = { scannedTo, toldAt: null, strikes: 0, disabled: false }
    const watch = new Watch(SPEC, state, ALL)
    return { watch, scan: new LineScan([watch.needle]) }
  }
  let { watch, scan } = begin()
  const say = (said: Said | null) => {
    if (said === null) return
    told.push(said)
    if (said.type === 'match') scannedTo = said.match.end
  }
  const borders = [...new Set([0, ...cuts.map((cut) => cut % (log.length + 1)), log.length])].sort(
    (a, b) => a - b,
  )
  let at = 0
  for (const [index, border] of borders.entries()) {
    if (border > at) {
      const { lines, end } = scan.add({ offset: at, bytes: log.subarray(at, border), gap: null })
      say(watch.sees(lines, end, index))
      at = border
    }
    if (deaths.has(index)) {
      ;({ watch, scan } = begin())
      at = scannedTo
      const { lines, end } = scan.add({ offset: at, bytes: log.subarray(at, border), gap: null })
      say(watch.sees(lines, end, index))
      at = border
    }
  }
  const { lines, end } = scan.end()
  say(watch.sees(lines, end, borders.length))
  return { lines: told.flatMap((said) => (said.type === 'match' ? said.match.lines : [])), told }
}

const line = fc.constantFrom('ERR 1', 'fine', '', 'an ERR é', '\u001b[31mE\u001b[0mRR', 'ER', 'R')
const logs = fc.tuple(fc.array(line, { maxLength: 12 }), fc.boolean())

test('each matching line is reported once, for any pieces of the log, and across restarts', () => {
  fc.assert(
    fc.property(
      logs,
      fc.array(fc.nat(400), { maxLength: 12 }),
      fc.array(fc.nat(12), { maxLength: 4 }),
      ([lines, endsOpen], cuts, deaths) => {
        const text = lines.join('\n') + (endsOpen || lines.length === 0 ? '' : '\n')
        const log = Buffer.from(text)
        const wanted = lines
          .map((one) => one.replaceAll('\u001b[31m', '').replaceAll('\u001b[0m', ''))
          .filter((one) => one.includes('ERR'))
        expect(scanned(log, cuts, new Set(deaths)).lines).toEqual(wanted)
      },
    ),
    { numRuns: 500 },
  )
})

test('an unfinished line is reported when it is finished, and not before', () => {
  const watch = new Watch(SPEC, undefined, ALL)
  const scan = new LineScan([watch.needle])
  const see = (offset: number, text: string) => {
    const { lines, end } = scan.add({ offset, bytes: Buffer.from(text), gap: null })
    return watch.sees(lines, end, offset)
  }
  expect([see(0, 'E'), see(1, 'R'), see(2, 'R at la')]).toEqual([null, null, null])
  expect(see(9, 'st\nERR')).toMatchObject({ match: { offset: 0, end: 12, lines: ['ERR at last'] } })
  const { lines, end } = scan.end()
  expect(watch.sees(lines, end, 99)).toMatchObject({ match: { offset: 12, lines: ['ERR'] } })
})

test('a successor examines held-back lines again, and counts them into its next match', () => {
  const watch = new Watch(SPEC, undefined, FLOOD_LIMITS)
  const seen = (offset: number) => [{ offset, end: offset + 4, text: 'ERR' }]
  expect(watch.sees(seen(0), 4, 0)).toMatchObject({ type: 'match' })
  expect(watch.safeTo).toBe(4)
  expect(watch.sees(seen(4), 8, 1)).toBeNull()
  expect(watch.sees(seen(8), 12, 2)).toBeNull()
  expect(watch.safeTo).toBe(4)
  const successor = new Watch(
    SPEC,
    { scannedTo: watch.safeTo, toldAt: 0, strikes: 0, disabled: false },
    FLOOD_LIMITS,
  )
  expect(successor.sees([...seen(4), ...seen(8)], 12, 3)).toBeNull()
  expect(successor.sees(seen(12), 16, 15_000)).toMatchObject({ match: { heldBack: 2, offset: 12 } })
})

test('held lines are reported once when their window is over, even if nothing more is printed', () => {
  const watch = new Watch(SPEC, undefined, FLOOD_LIMITS)
  const seen = (offset: number) => [{ offset, end: offset + 4, text: `ERR ${offset}` }]
  expect(watch.sees(seen(0), 4, 1_000)).toMatchObject({ match: { lines: ['ERR 0'] } })
  expect(watch.heldDueAt(1_000)).toBeNull()
  expect(watch.sees(seen(4), 8, 2_000)).toBeNull()
  expect(watch.sees(seen(8), 12, 3_000)).toBeNull()
  expect(watch.heldDueAt(1_500)).toBe(16_000)
  expect(watch.tellsHeld(15_999)).toBeNull()
  expect(watch.tellsHeld(16_000)).toMatchObject({
    match: { offset: 4, end: 12, lines: ['ERR 4', 'ERR 8'], more: 0, heldBack: 0, strikes: 1 },
  })
  expect([watch.heldDueAt(98_000), watch.held, watch.safeTo, watch.tellsHeld(99_000)]).toEqual([
    null,
    0,
    12,
    null,
  ])
  // A window of its own begins with it.
  expect(watch.sees(seen(12), 16, 20_000)).toBeNull()
  expect(watch.heldDueAt(30_000)).toBe(31_000)
})

test('a watch whose clock is set back reports held lines after one window', () => {
  const watch = new Watch(SPEC, undefined, FLOOD_LIMITS)
  const seen = (offset: number) => [{ offset, end: offset + 4, text: `ERR ${offset}` }]
  expect(watch.sees(seen(0), 4, 1_000_000)).toMatchObject({ type: 'match' })
  expect(watch.sees(seen(4), 8, 1_000_100)).toBeNull()
  expect(watch.tellsHeld(2_000)).toBeNull()
  expect(watch.heldDueAt(2_000)).toBe(17_000)
  expect(watch.tellsHeld(17_000)).toMatchObject({ match: { lines: ['ERR 4'] } })
  expect(watch.meetsGap({ from: 8, to: 20 }, 17_000)).toMatchObject({ type: 'match' })
  expect(watch.meetsGap({ from: 20, to: 30 }, 1_000)).toMatchObject({ type: 'match' })
})

test('a gap is reported at once, or with the next match if one was reported just before', () => {
  const watch = new Watch(SPEC, undefined, FLOOD_LIMITS)
  expect(watch.meetsGap({ from: 0, to: 100 }, 0)).toMatchObject({
    match: { offset: 0, end: 100, lines: [], missed: { from: 0, to: 100 } },
  })
  expect(watch.meetsGap({ from: 150, to: 200 }, 1)).toBeNull()
  expect(watch.sees([{ offset: 200, end: 204, text: 'ERR' }], 204, 2)).toMatchObject({
    match: { lines: ['ERR'], missed: { from: 150, to: 200 } },
  })
  expect(watch.sees([{ offset: 204, end: 208, text: 'ERR' }], 208, 3)).toBeNull()
  expect(watch.held).toBe(1)
})

test('an unreported gap is scanned again by the next daemon, and known at the end', () => {
  const watch = new Watch(SPEC, undefined, FLOOD_LIMITS)
  expect(watch.meetsGap({ from: 0, to: 100 }, 0)).not.toBeNull()
  expect([watch.safeTo, watch.missed]).toEqual([100, null])
  expect(watch.meetsGap({ from: 150, to: 9_000 }, 5_000)).toBeNull()
  expect(watch.sees([{ offset: 9_000, end: 9_005, text: 'fine' }], 9_005, 5_001)).toBeNull()
  expect([watch.safeTo, watch.missed]).toEqual([150, { from: 150, to: 9_000 }])
  const state = { scannedTo: watch.safeTo, toldAt: null, strikes: 0, disabled: false }
  const successor = new Watch(SPEC, state, FLOOD_LIMITS)
  expect(successor.meetsGap({ from: 150, to: 9_500 }, 6_000)).toMatchObject({
    match: { missed: { from: 150, to: 9_500 } },
  })
})
