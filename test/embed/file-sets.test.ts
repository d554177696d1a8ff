import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isRefusal } from '../../src/core/refusal.ts'
import type { FileSet } from '../../src/core/trigger/trigger.ts'
import { GlobbedFiles, MAX_FILES } from '../../src/embed/file-sets.ts'
import { tempFolder } from '../temp-folder.ts'

async function setOf(folder: string, glob: string): Promise<FileSet> {
  const found = await new GlobbedFiles().look({ type: 'files', folder, glob, debounceMs: 0, place: null })
  if (isRefusal(found)) throw new Error(found.message)
  return found
}

async function refusedOf(folder: string, glob: string) {
  return new GlobbedFiles().look({ type: 'files', folder, glob, debounceMs: 0, place: null })
}

test('a set has the files that match, and its hash follows from their names, sizes and times', async () => {
  const folder = tempFolder()
  mkdirSync(join(folder, 'deep'))
  for (const path of ['a.csv', 'b.txt', 'deep/c.csv']) writeFileSync(join(folder, path), path)
  const flat = await setOf(folder, '*.csv')
  expect(Object.keys(flat.files)).toEqual(['a.csv'])
  const deep = await setOf(folder, '**/*.csv')
  expect(Object.keys(deep.files)).toEqual(['a.csv', 'deep/c.csv'])
  expect(await setOf(folder, '**/*.csv')).toEqual(deep)
  writeFileSync(join(folder, 'b.txt'), 'other')
  expect((await setOf(folder, '**/*.csv')).hash).toBe(deep.hash)
  utimesSync(join(folder, 'a.csv'), 1, 1)
  expect((await setOf(folder, '**/*.csv')).hash).not.toBe(deep.hash)
})

test('a link is looked at as a link: a change behind it is none', async () => {
  const [folder, outside] = [tempFolder(), tempFolder()]
  writeFileSync(join(outside, 'secret'), '1')
  symlinkSync(join(outside, 'secret'), join(folder, 'link'))
  symlinkSync(outside, join(folder, 'folder'))
  const before = await setOf(folder, '**')
  writeFileSync(join(outside, 'secret'), '22')
  expect((await setOf(folder, '**')).hash).toBe(before.hash)
  expect(Object.keys(before.files)).not.toContain('folder/secret')
})

test('a folder that is gone, and too many files, are refused', async () => {
  const folder = tempFolder()
  expect(await refusedOf(join(folder, 'none'), '*')).toMatchObject({ code: 'invalid_input' })
  for (let n = 0; n <= MAX_FILES; n++) writeFileSync(join(folder, `${n}`), '')
  expect(await refusedOf(folder, '*')).toMatchObject({
    code: 'invalid_input',
    details: { field: 'source.glob' },
  })
  rmSync(join(folder, '0'))
  expect(Object.keys((await setOf(folder, '*')).files)).toHaveLength(MAX_FILES)
})
