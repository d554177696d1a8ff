import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { openSqlite } from '../../../src/store/sqlite/open.ts'
import { builtFixture } from '../../built-file.ts'
import { quickFolder } from '../../quick-folder.ts'
import { newPid, register } from '../plans.ts'

const COMMITS = 100

for (const [where, folder] of [
  ['in the temporary folder, on a disk as a rule', tmpdir()],
  ['in memory', quickFolder],
] as const) {
  test(`another OS process hears of every commit by events of the file alone, ${where}`, async () => {
    const created = mkdtempSync(join(folder, 'reeve-test-'))
    onTestFinished(() => rmSync(created, { recursive: true, force: true }))
    const file = join(created, 'reeve.db')
    const store = await openSqlite(file)
    onTestFinished(() => store.close())
    const listener = spawn(process.execPath, [builtFixture('commit-listener'), file], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const gone = once(listener, 'exit')
    onTestFinished(async () => {
      listener.kill('SIGKILL')
      await gone
    })
    let heard = ''
    createInterface(listener.stdout).on('line', (line) => {
      heard = line
    })
    await expect.poll(() => heard, { timeout: 60_000 }).toBe('listening')

    // The next commit follows only after this one was reported, so no later event can hide a missing one.
    for (let position = 1; position <= COMMITS; position++) {
      await store.write(register(newPid()))
      await expect.poll(() => heard, { timeout: 60_000, interval: 5 }).toBe(String(position))
    }
  })
}
