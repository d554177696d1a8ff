import { chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PolicyFolder } from '../../src/embed/policy-files.ts'
import { NEEDS_ROOT, testIf } from '../reporting/test-if.ts'
import { tempFolder } from '../temp-folder.ts'

function looking() {
  const troubles: unknown[] = []
  const time = { now: 1_000 }
  const files = new PolicyFolder(
    (error) => troubles.push(error),
    () => time.now,
  )
  const folder = tempFolder()
  mkdirSync(join(folder, '.reeve'))
  const path = join(folder, '.reeve', 'policy.json')
  const paths = async (maxAgeMs?: number) =>
    (await files.look(folder, maxAgeMs)).files.map((file) => file.path).filter((one) => one === path)
  return { files, folder, path, paths, time, troubles }
}

test('a file that was absent a moment ago is not looked for again, unless a fresh look is asked for', async () => {
  const { path, paths, time } = looking()
  expect(await paths(500)).toEqual([])
  writeFileSync(path, '{}')
  time.now += 499
  expect(await paths(500)).toEqual([])
  time.now += 1
  expect(await paths(500)).toEqual([path])
})

test('a fresh look finds a file at once, and later looks know it', async () => {
  const { path, paths } = looking()
  expect(await paths(500)).toEqual([])
  writeFileSync(path, '{}')
  expect(await paths()).toEqual([path])
  expect(await paths(500)).toEqual([path])
})

test('a folder that is not there is found behind the links above it', async () => {
  const { files, folder } = looking()
  symlinkSync(folder, join(folder, 'link'))
  expect(await files.look(join(folder, 'link', 'none', 'sub'))).toMatchObject({
    folder: join(folder, 'none', 'sub'),
  })
})

// Only root can give files away.
testIf(process.getuid?.() === 0, NEEDS_ROOT)(
  'a file of another user is reported and does not count, unless the folder is theirs',
  async () => {
    const { files, folder, path, paths, troubles } = looking()
    writeFileSync(path, '{}')
    expect(await paths()).toEqual([path])
    chownSync(path, 12_345, 12_345)
    expect(await paths()).toEqual([])
    expect(await paths()).toEqual([])
    expect(troubles).toMatchObject([{ code: 'policy_invalid' }])
    expect(files.broken).toMatchObject([{ path, problems: [{ line: 1 }] }])
    chownSync(folder, 12_345, 12_345)
    writeFileSync(path, '{"rules":[]}')
    expect(await paths()).toEqual([path])
    expect(files.broken).toEqual([])
  },
)
