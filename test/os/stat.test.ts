import { expect, test } from 'vitest'
import { cpuTicksOf, isOver, parseStat } from '../../src/os/stat.ts'

const line = (name: string, state: string, threads = 1) =>
  `4242 (${name}) ${state} 17 4240 4200 0 -1 4194304 101 0 0 0 7 5 3 2 20 0 ${threads} 0 987654 2531328 200 18446744073709551615 0\n`

test('a name with spaces and brackets shifts no field', () => {
  expect(parseStat(line('a) R 1 (b', 'S'))).toEqual({
    state: 'S',
    ppid: 17,
    group: 4240,
    session: 4200,
    startTime: '987654',
    name: 'a) R 1 (b',
    threads: 1,
  })
})

test('CPU time is that of a process and of the children it has reaped', () => {
  expect(cpuTicksOf(line('x', 'S'))).toBe(17)
  expect(cpuTicksOf(null)).toBe(0)
})

test('a zombie is over, but not one whose other threads still run', () => {
  expect(isOver(parseStat(line('x', 'Z')))).toBe(true)
  expect(isOver(parseStat(line('x', 'X')))).toBe(true)
  expect(isOver(parseStat(line('x', 'Z', 3)))).toBe(false)
  expect(isOver(parseStat(line('x', 'T')))).toBe(false)
})
