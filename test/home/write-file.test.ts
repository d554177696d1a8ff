import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readIfPresent, writeDurably, writeWholeFile } from '../../src/home/write-file.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-home-'))
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('a missing file has no text, and a folder is an error', () => {
  expect(readIfPresent(join(folder, 'note'))).toBeUndefined()
  expect(() => readIfPresent(folder)).toThrow('EISDIR')
})

describe.each([
  ['writeWholeFile', writeWholeFile],
  ['writeDurably', writeDurably],
])('%s', (_, write) => {
  test('replaces the text, for the owner alone, and leaves no draft', () => {
    const path = join(folder, 'note')
    writeFileSync(path, 'old and longer', { mode: 0o644 })
    write(path, 'new')
    expect(readIfPresent(path)).toBe('new')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual(['note'])
  })

  test('a draft that a killed program left behind is not used', () => {
    const path = join(folder, 'note')
    writeFileSync(`${path}.${process.pid}.new`, 'draft', { mode: 0o644 })
    write(path, 'new')
    expect(readIfPresent(path)).toBe('new')
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test('a file that cannot be replaced is an error, and leaves no draft', () => {
    expect(() => write(folder, 'new')).toThrow()
    expect(() => write(join(folder, 'missing', 'note'), 'new')).toThrow('ENOENT')
    expect(readdirSync(folder)).toEqual([])
  })
})
