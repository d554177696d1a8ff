import { expect, test } from 'vitest'
import { isInsideProgram } from '../../src/os/program-marks.ts'

test('a program with the marker, or in a cgroup of a program, is inside of Reeve', () => {
  const leaf = '/sys/fs/cgroup/reeve-h1/12-345-6'
  expect(isInsideProgram({ REEVE_PROCESS: 'p_a@h1' }, null)).toBe(true)
  expect(isInsideProgram({}, leaf)).toBe(true)
  expect(isInsideProgram({}, `${leaf}/own`)).toBe(true)
})

test('any other program is outside', () => {
  for (const cgroup of [null, '/sys/fs/cgroup', '/sys/fs/cgroup/user.slice', '/sys/fs/cgroup/reeve-h1'])
    for (const env of [{}, { REEVE_PROCESS: '' }, { REEVE_PROCESS: undefined, REEVE_HOME: '/h' }])
      expect([cgroup, isInsideProgram(env, cgroup)]).toEqual([cgroup, false])
})
