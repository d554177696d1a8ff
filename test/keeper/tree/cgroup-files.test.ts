import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { killCgroup, numberIn, removeCgroup } from '../../../src/keeper/tree/cgroup-files.ts'
import { limitMemory, memoryKills, peakMemory } from '../../../src/keeper/tree/memory-group.ts'
import { isLeaf } from '../../../src/os/program-marks.ts'
import { tempFolder } from '../../temp-folder.ts'

test('only a cgroup that a keeper made is a leaf', () => {
  expect(isLeaf('/sys/fs/cgroup/unified/reeve-h1/12-345-6')).toBe(true)
  expect(isLeaf('/sys/fs/cgroup/reeve-h1/12-345-6')).toBe(true)
  for (const path of [
    '/sys/fs/cgroup',
    '/sys/fs/cgroup/reeve-h1',
    '/sys/fs/cgroup/other/12-345-6',
    '/sys/fs/cgroup/reeve-h1/12-345',
    '/sys/fs/cgroup/reeve-h1/12-345-6/below',
    '/sys/fs/cgroup/reeve-h1/../12-345-6',
    '/sys/../reeve-h1/12-345-6',
    'reeve-h1/12-345-6',
    '',
  ]) {
    expect(isLeaf(path), path).toBe(false)
  }
})

test('a cgroup that no keeper made is not killed', () => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'cgroup.procs'), '')
  writeFileSync(join(folder, 'cgroup.kill'), '')
  expect(() => killCgroup(folder)).toThrow(/nothing in it was ended/)
  expect(readFileSync(join(folder, 'cgroup.kill'), 'utf8')).toBe('')
})

test('a number is found by its whole name', () => {
  expect(numberIn('usage_usec 12\nuser_usec 5\n', 'user_usec')).toBe(5)
  expect(numberIn('usage_usec 12\n', 'usage')).toBeNull()
})

test('a leaf with the controller limits memory itself, without the former usage of the keeper', () => {
  const leaf = tempFolder()
  for (const [file, text] of [
    ['memory.max', 'max\n'],
    ['memory.swap.max', 'max\n'],
    ['memory.peak', '5000\n'],
    ['memory.events', 'low 0\noom 4\noom_kill 3\n'],
  ] as const) {
    writeFileSync(join(leaf, file), text)
  }
  const memory = { leaf, groupV1: null, keepersBytes: 1000 }
  expect(limitMemory(memory, 1, 64_000)).toBe(true)
  expect(readFileSync(join(leaf, 'memory.max'), 'utf8').trim()).toBe('65000')
  expect(readFileSync(join(leaf, 'memory.swap.max'), 'utf8')[0]).toBe('0')
  expect(peakMemory(memory)).toBe(4000)
  expect(memoryKills(memory)).toBe(3)
})

test('without any controller memory is neither limited nor counted', () => {
  const memory = { leaf: tempFolder(), groupV1: null, keepersBytes: 0 }
  expect(limitMemory(memory, 1, 64_000)).toBe(false)
  expect(peakMemory(memory)).toBeNull()
  expect(memoryKills(memory)).toBe(0)
})

test('a group is removed with the empty ones below it, and is gone when it was', () => {
  const folder = join(tempFolder(), 'a')
  mkdirSync(join(folder, 'b', 'c'), { recursive: true })
  expect(removeCgroup(folder)).toBe(true)
  expect(removeCgroup(folder)).toBe(true)
})
