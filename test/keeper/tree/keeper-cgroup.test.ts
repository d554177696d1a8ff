import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { KeeperCgroup } from '../../../src/keeper/tree/keeper-cgroup.ts'
import { startTimeOf } from '../../../src/os/identity.ts'
import { tempFolder } from '../../temp-folder.ts'

/** Plain folders: one can be moved into if it has the file that a cgroup has. */
function folders() {
  const folder = tempFolder()
  const [base, origin] = [join(folder, 'base'), join(folder, 'origin')]
  const leafOf = (number: number) => join(base, `${process.pid}-${startTimeOf(process.pid)}-${number}`)
  const used: string[] = []
  const moves: (readonly [from: string | null, to: string | null])[] = []
  const standing = new KeeperCgroup(base, origin, {
    moved: (from, to) => moves.push([from, to]),
    foundUsed: (leaf) => used.push(leaf),
  })
  onTestFinished(async () => {
    await standing.leave()
  })
  return { base, origin, leafOf, used, moves, standing }
}

function allow(group: string): string {
  mkdirSync(group, { recursive: true })
  writeFileSync(join(group, 'cgroup.procs'), '')
  return group
}

test('where no leaf can be had, the keeper stays where it is, and programs are in none', async () => {
  const { origin, standing } = folders()
  allow(origin)
  await standing.enter()
  expect(standing.leaf).toBeNull()
  await standing.ready()
  expect(standing.take()).toBeNull()
})

test('a leaf that cannot be entered is passed over', async () => {
  const { leafOf, standing } = folders()
  allow(leafOf(3))
  await standing.enter()
  expect(standing.leaf).toBe(leafOf(3))
  expect(readFileSync(join(leafOf(3), 'cgroup.procs'), 'utf8')).toBe('0')
})

test('while the keeper cannot leave a used leaf, nothing is started, and then it is', async () => {
  const { leafOf, origin, moves, standing } = folders()
  allow(leafOf(1))
  await standing.enter()
  await standing.ready()
  expect(standing.take()).toBe(leafOf(1))
  await expect(standing.ready()).rejects.toThrow('could not leave a used cgroup')
  expect(() => standing.take()).toThrow('without ready()')
  expect(moves).toEqual([[null, leafOf(1)]])
  allow(origin)
  await standing.ready()
  expect(standing.take()).toBeNull()
  expect(moves).toEqual([
    [null, leafOf(1)],
    [leafOf(1), null],
  ])
})

test('turns are granted in order, and the keeper moves on after each', async () => {
  const { leafOf, standing } = folders()
  for (let number = 1; number <= 5; number++) allow(leafOf(number))
  await standing.enter()
  const taken: (string | null)[] = []
  const one = async () => {
    await standing.ready()
    taken.push(standing.take())
  }
  await Promise.all([one(), one(), one()])
  expect(taken).toEqual([leafOf(1), leafOf(2), leafOf(3)])
})

test('a leaf with an unexpected process is given to no program', async () => {
  const { leafOf, used, standing } = folders()
  allow(leafOf(1))
  allow(leafOf(2))
  await standing.enter()
  await standing.ready()
  writeFileSync(join(leafOf(1), 'cgroup.procs'), `${process.pid}\n4242\n`)
  await standing.ready()
  expect(standing.take()).toBe(leafOf(2))
  expect(used).toEqual([leafOf(1)])
})

test('after leaving there are no more turns', async () => {
  const { leafOf, origin, standing } = folders()
  allow(leafOf(1))
  await standing.enter()
  expect(await standing.leave()).toBe(false)
  allow(origin)
  expect(await standing.leave()).toBe(true)
  rmSync(origin, { recursive: true })
  await expect(standing.ready()).rejects.toThrow('is leaving')
})
