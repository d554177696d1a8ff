import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { AnchorFile } from '../../src/daemon/anchor-file.ts'
import { homePaths } from '../../src/home/paths.ts'
import { tempFolder } from '../temp-folder.ts'

function opened() {
  const home = homePaths(tempFolder())
  const logged: object[] = []
  const open = () => new AnchorFile(home, { info: (facts) => void logged.push(facts) })
  return { path: home.auditAnchors, logged, open }
}

test('anchors are kept by store, readable by the owner alone, and logged', () => {
  const { path, logged, open } = opened()
  expect(open().read('one')).toEqual([])
  open().append('one', { position: 1, hash: 'a' })
  open().append('two', { position: 9, hash: 'x' })
  open().append('one', { position: 4, hash: 'b' })
  expect(open().read('one')).toEqual([
    { position: 1, hash: 'a' },
    { position: 4, hash: 'b' },
  ])
  expect(open().read('two')).toEqual([{ position: 9, hash: 'x' }])
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(logged).toContainEqual({ position: 4, hash: 'b' })
})

test('a line that was not written to its end is passed over, and spoils no later one', () => {
  const { path, open } = opened()
  open().append('one', { position: 1, hash: 'a' })
  appendFileSync(path, '{"store":"one","posi')
  open().append('one', { position: 2, hash: 'b' })
  expect(
    open()
      .read('one')
      .map(({ position }) => position),
  ).toEqual([1, 2])
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('the file is bounded, and keeps the newest anchors of each store', () => {
  const { path, open } = opened()
  const line = (store: string, position: number) =>
    `${JSON.stringify({ store, position, hash: `h${position}` })}\n`
  writeFileSync(
    path,
    line('two', 7) + Array.from({ length: 10_000 }, (_, index) => line('one', index + 1)).join(''),
  )
  open().append('one', { position: 10_001, hash: 'last' })
  expect(readFileSync(path, 'utf8').split('\n').length).toBeLessThan(2_100)
  expect(open().read('two')).toEqual([{ position: 7, hash: 'h7' }])
  expect(open().read('one').slice(-2)).toEqual([
    { position: 10_000, hash: 'h10000' },
    { position: 10_001, hash: 'last' },
  ])
})

test('the latest start is kept, and the key is made once', () => {
  const { path, open } = opened()
  const line = (position: number) => `${JSON.stringify({ store: 'one', position, hash: `h${position}` })}\n`
  const lines = Array.from({ length: 10_000 }, (_, index) => line(index + 1))
  writeFileSync(
    path,
    `{"store":"one","position":1,"hash":"h1","start":true}\n{"store":"one","position":2,"hash":"h2","start":true}\n${lines.join('')}`,
  )
  open().append('one', { position: 10_001, hash: 'last' })
  expect(open().read('one')).toContainEqual({ position: 2, hash: 'h2', isStart: true })
  expect(open().readKey()).toBe(null)
  const key = open().createKey()
  expect(key).toMatch(/^[0-9a-f]{64}$/)
  expect(open().readKey()).toBe(key)
})
