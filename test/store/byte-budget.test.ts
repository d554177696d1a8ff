import { expect, test } from 'vitest'
import { ByteBudget } from '../../src/store/byte-budget.ts'

test('tasks run in their order, as many at once as their sizes allow', async () => {
  const budget = new ByteBudget(10)
  const ends: (() => void)[] = []
  const begun: number[] = []
  const running = [4, 6, 1, 50, 2].map((bytes, index) =>
    budget.run(bytes, () => {
      begun.push(index)
      return new Promise<void>((resolve) => (ends[index] = resolve))
    }),
  )
  const end = async (index: number) => {
    ends[index]?.()
    await running[index]
    await Promise.resolve()
  }
  await Promise.resolve()
  expect(begun).toEqual([0, 1])
  await end(1)
  expect(begun).toEqual([0, 1, 2])
  await end(0)
  expect(begun).toEqual([0, 1, 2])
  await end(2)
  // Larger than the whole budget: it runs alone.
  expect(begun).toEqual([0, 1, 2, 3])
  await end(3)
  expect(begun).toEqual([0, 1, 2, 3, 4])
  await end(4)
})

test('a task that fails gives its part back', async () => {
  const budget = new ByteBudget(1)
  await expect(budget.run(1, () => Promise.reject(new Error('full')))).rejects.toThrow('full')
  expect(await budget.run(1, async () => 'next')).toBe('next')
})
