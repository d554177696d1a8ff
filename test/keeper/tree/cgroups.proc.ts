import { type ExecFileException, execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { globSync } from 'node:fs'
import { afterAll, expect } from 'vitest'
import { builtFixture } from '../../built-file.ts'
import { NEEDS_CGROUP, NEEDS_ROOT, testIf } from '../../reporting/test-if.ts'

const keeper = builtFixture('cgroup-keeper')
const home = `test${randomBytes(4).toString('hex')}`

const testInCgroup = testIf((await act('probe')) === 'some', NEEDS_CGROUP)

afterAll(() => {
  expect(globSync(`/sys/fs/cgroup/**/reeve-${home}*`)).toEqual([])
})

testInCgroup(
  'each program is alone in a leaf, also when many start at once, and nothing is left of them',
  async () => {
    expect(await act('leaves')).toEqual({
      leaves: 8,
      alone: true,
      keeperIsInOne: false,
      isBack: true,
      wasMoved: true,
      baseIsLeft: false,
    })
  },
)

testInCgroup('a tree that hears nothing leaves no survivor', async () => {
  expect(await act('endStubborn')).toEqual({
    answer: { how: 'forced' },
    exit: { code: null, signal: 'SIGKILL' },
    survivors: [],
    left: 0,
  })
})

testInCgroup('who left session, parents and environment behind is found by the cgroup', async () => {
  expect(await act('endUnknown')).toEqual({
    found: 3,
    foundWithoutProgram: 2,
    answer: { how: 'asked' },
    survivors: [],
    left: 0,
  })
})

testInCgroup('a tree that grows without end and without a marker leaves no survivor', async () => {
  expect(await act('endBomb')).toEqual({ answer: { how: 'forced' }, survivors: [], left: 0 })
})

testInCgroup('a leaf is killed without the keeper that still stands in it', async () => {
  expect(await act('endAtOnce')).toEqual({
    keeperIsInside: true,
    exit: { code: null, signal: 'SIGKILL' },
    members: [],
    left: 0,
  })
})

testInCgroup('what the keeper runs for itself in a leaf is not ended with the program', async () => {
  expect(await act('ownChild')).toEqual({
    isInside: true,
    members: ['sleep'],
    answer: { how: 'forced' },
    isAlive: true,
    left: 0,
  })
})

testInCgroup('a program that took no leaf is not in the leaf of the next', async () => {
  expect(await act('untaken')).toEqual({ members: [true], isAlive: true, answer: { how: 'asked' }, left: 0 })
})

testInCgroup('a stranger by start time is not signalled, though it is in the leaf', async () => {
  expect(await act('strangerInside')).toEqual({
    answers: [{ how: 'not_ours' }, { how: 'not_ours' }, 'not_ours'],
    isAlive: true,
    left: 0,
  })
})

testInCgroup('a leaf that was taken for a fork that failed is removed', async () => {
  expect(await act('forkFailed')).toEqual({ members: 1, left: 0 })
})

testInCgroup('a turn that is not used passes, and a leaf is taken once', async () => {
  expect(await act('turns')).toEqual({
    tooEarly: expect.stringContaining('without ready()'),
    twice: expect.stringContaining('without ready()'),
    left: 0,
  })
})

testInCgroup('a leaf that is busy is removed when the last has left it', async () => {
  expect(await act('leftBehind')).toEqual({ whileAlive: true, left: 0 })
})

testInCgroup('groups that a program makes below its leaf are part of it', async () => {
  expect(await act('groupsBelow')).toEqual({ members: [true], answer: { how: 'forced' }, left: 0 })
})

testInCgroup('a new keeper removes what a dead one left empty, and ends what still runs', async () => {
  const dead = await act('die')
  const next = await act('takeOver', JSON.stringify(dead))
  expect(next).toEqual({
    leftEmpty: true,
    // That of the program.
    after: 1,
    members: 1,
    cpuMs: null,
    answer: { how: 'asked' },
    left: [],
  })
})

testInCgroup('CPU time is counted exactly, and that of the keeper is not in it', async () => {
  const { idleUsage, busyUsage, sampled, afterwards, left } = (await act('cpu')) as Record<
    string,
    Counted
  > & {
    afterwards: number
    left: number
  }
  // The time is exact; the memory and the bytes are not.
  expect(idleUsage!.sampled).toBe(true)
  // The keeper used 900 ms around this fork.
  expect(idleUsage!.cpuMs).toBeLessThan(200)
  expect(busyUsage!.cpuMs).toBeGreaterThan(idleUsage!.cpuMs)
  expect(sampled!.sampled).toBe(true)
  expect(sampled!.cpuMs).toBeGreaterThan(0)
  expect(afterwards).toBeGreaterThanOrEqual(busyUsage!.cpuMs)
  expect(left).toBe(0)
})

testInCgroup('a memory limit is kept by the system, which says that it killed for it', async ({ skip }) => {
  const result = (await act('memory')) as { limited: boolean; left: number }
  expect(result.left).toBe(0)
  skip(!result.limited, 'needs the memory controller of cgroup v2')
  expect(result).toEqual({
    limited: true,
    killsBefore: 0,
    kills: 1,
    exit: { code: 9, signal: null },
    code: '137\n',
    inUse: true,
    peakNearLimit: true,
    left: 0,
  })
})

testIf(process.getuid?.() === 0, NEEDS_ROOT)(
  'a user who may not divide cgroups gets none, and leaves none behind',
  async () => {
    expect(await act('probe', '', 65_534)).toBe('none')
  },
)

interface Counted {
  cpuMs: number
  sampled: boolean
}

function act(name: string, input = '', uid?: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const options = { timeout: 50_000, ...(uid === undefined ? {} : { uid, gid: uid }) }
    const heard = (error: ExecFileException | null, stdout: string, stderr: string) => {
      // One act is to die.
      if (error !== null && error.signal !== 'SIGKILL')
        reject(new Error(`${name}: ${error.message}\n${stderr}`))
      else resolve(JSON.parse(stdout))
    }
    const child = execFile(process.execPath, [keeper, home, name], options, heard)
    child.stdin?.end(input)
  })
}
