import { expect, test } from 'vitest'
import { type Machine, type TrackedProcess, whereIs } from '../../../src/core/process/tracked.ts'

const MACHINE: Machine = { host: 'h', boot: 'now', pidNamespace: 'pid:[1]', hasMachineId: true }
const TRACKED: TrackedProcess = {
  host: 'h',
  boot: 'now',
  pidNamespace: 'pid:[1]',
  osPid: 100,
  startTime: '1',
}

test.each([
  ['the same boot and PID namespace', {}, {}, [], 'here'],
  ['another PID namespace', { pidNamespace: 'pid:[2]' }, {}, [], 'unknown'],
  ['another machine', { host: 'other' }, {}, [], 'unknown'],
  ['another boot of this machine', { boot: 'before' }, {}, ['now'], 'earlier_boot'],
  ['another boot, on which a holder lives', { boot: 'before' }, {}, ['now', 'before'], 'unknown'],
  [
    'another boot, where no machine id tells machines apart',
    { boot: 'before' },
    { hasMachineId: false },
    [],
    'unknown',
  ],
  ['a boot that was never known', { boot: '' }, {}, [], 'unknown'],
  ['a system that does not tell its boot', {}, { boot: '' }, [], 'unknown'],
] as const)('a tracked process with %s', (_where, tracked, machine, liveBoots, expected) => {
  expect(whereIs({ ...TRACKED, ...tracked }, { ...MACHINE, ...machine }, liveBoots)).toBe(expected)
})
