import { existsSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LogRotation } from '../../src/daemon/log-rotation.ts'
import { tempFolder } from '../temp-folder.ts'

const MAX_BYTES = 1_000

function rotatedLog() {
  const path = join(tempFolder(), 'daemon.log')
  const fd = openSync(path, 'a')
  const rotation = new LogRotation({ path, fd, maxBytes: MAX_BYTES })
  const write = (line: string) => {
    rotation.rotateIfFull()
    writeSync(fd, `${line}\n`)
  }
  return { path, fd, write }
}

const linesIn = (path: string) => readFileSync(path, 'utf8').trimEnd().split('\n')

test('the last lines are in the log and its copy, whole, in order and without a gap, however often it rotates', () => {
  const { path, write } = rotatedLog()
  const lines = Array.from({ length: 500 }, (_, at) => `line ${at} ${'x'.repeat(at % 17)}`)
  for (const line of lines) write(line)
  const kept = [...linesIn(`${path}.1`), ...linesIn(path)]
  expect(kept).toEqual(lines.slice(-kept.length))
  expect(readFileSync(`${path}.1`).length).toBeGreaterThan(MAX_BYTES)
  expect(readFileSync(path).length).toBeLessThan(MAX_BYTES + 100)
})

test('another writer of the same file counts, and its lines stay', () => {
  const { path, write } = rotatedLog()
  write('ours')
  const stderr = openSync(path, 'a')
  writeSync(stderr, `${'theirs,'.repeat(200)}\n`)
  write('after the rotation')
  writeSync(stderr, 'a crash\n')
  expect(linesIn(`${path}.1`)).toEqual(['ours', 'theirs,'.repeat(200)])
  expect(linesIn(path)).toEqual(['after the rotation', 'a crash'])
})

test('a log whose path has another file by now is left as it is', () => {
  const { path, write } = rotatedLog()
  write('x'.repeat(2 * MAX_BYTES))
  renameSync(path, `${path}.moved`)
  writeFileSync(path, 'of another daemon\n')
  write('still ours')
  expect(linesIn(path)).toEqual(['of another daemon'])
  expect(linesIn(`${path}.moved`).at(-1)).toBe('still ours')
  expect(existsSync(`${path}.1`)).toBe(false)
})
