import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const run = promisify(execFile)
const LAUNCHER = join(import.meta.dirname, '../../bin/reeve.mjs')

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'reeve-cache-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

/** Runs `reeve version` with this cache folder, under the most permissive umask there is. */
async function start(caches: string): Promise<void> {
  const line = 'umask 000; exec "$0" --conditions=reeve-source "$1" version'
  const env = { ...process.env, XDG_CACHE_HOME: caches, NODE_COMPILE_CACHE: undefined }
  const { stdout } = await run('/bin/sh', ['-c', line, process.execPath, LAUNCHER], { env })
  expect(stdout).toMatch(/\d+\.\d+\.\d+/)
}

test('compiled code is kept in a folder for its owner alone, under any umask', async () => {
  const caches = folder()
  await start(caches)
  const kept = join(caches, 'reeve')
  expect(statSync(kept).mode & 0o777).toBe(0o700)
  expect(readdirSync(kept)).not.toEqual([])
  await start(caches)
})

test('a cache that did not exist is made for its owner alone', async () => {
  const caches = join(folder(), 'one', 'two')
  await start(caches)
  expect(statSync(caches).mode & 0o777).toBe(0o700)
  expect(readdirSync(join(caches, 'reeve'))).not.toEqual([])
})

test.for(['0777', '0770', '0757'])('a cache folder with mode %s is not used', async (mode) => {
  const caches = folder()
  const kept = join(caches, 'reeve')
  mkdirSync(kept)
  chmodSync(kept, Number.parseInt(mode, 8))
  await start(caches)
  expect(readdirSync(kept)).toEqual([])
})

test('a cache folder that others can only read is used, and closed to them', async () => {
  const caches = folder()
  const kept = join(caches, 'reeve')
  mkdirSync(join(kept, 'compiled-before'), { recursive: true })
  for (const path of [join(kept, 'compiled-before'), kept]) chmodSync(path, 0o755)
  await start(caches)
  expect(readdirSync(kept).length).toBeGreaterThan(1)
  expect(statSync(kept).mode & 0o777).toBe(0o700)
})

test('a readable cache folder is not used if others can write to a folder in it', async () => {
  const caches = folder()
  const kept = join(caches, 'reeve')
  mkdirSync(join(kept, 'compiled-before'), { recursive: true })
  chmodSync(join(kept, 'compiled-before'), 0o775)
  chmodSync(kept, 0o755)
  await start(caches)
  expect(readdirSync(kept)).toEqual(['compiled-before'])
})

test('a cache folder that others could replace is not used', async () => {
  const caches = folder()
  chmodSync(caches, 0o777)
  await start(caches)
  expect(readdirSync(caches)).toEqual([])
})

test('a symbolic link instead of the cache folder is not followed', async () => {
  const caches = folder()
  const elsewhere = folder()
  symlinkSync(elsewhere, join(caches, 'reeve'))
  await start(caches)
  expect(readdirSync(elsewhere)).toEqual([])
})

test('a symbolic link to a folder that others may write to is not used as a cache', async () => {
  const caches = folder()
  const open = join(folder(), 'open')
  mkdirSync(open)
  chmodSync(open, 0o777)
  symlinkSync(open, join(caches, 'link'))
  await start(join(caches, 'link'))
  expect(readdirSync(open)).toEqual([])
})
