import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { exitOf } from '../keeper/client.ts'
import { NEEDS_MOUNT, testIf } from '../reporting/test-if.ts'
import { canMount } from '../small-disk.ts'

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url))

async function soak(...args: string[]): Promise<{ code: number | null; said: string[] }> {
  const program = spawn(process.execPath, ['--conditions=reeve-source', MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = exitOf(program)
  // One whose test took too long removes what it made, and is gone when the next begins.
  onTestFinished(async () => {
    program.kill('SIGTERM')
    const lastResort = setTimeout(() => program.kill('SIGKILL'), 90_000)
    await exited
    clearTimeout(lastResort)
  })
  let text = ''
  program.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  const code = await exited
  return { code, said: text.trimEnd().split('\n') }
}

const TIMES = { timeout: 300_000 }

test(
  'a short soak holds: commands and terminals under a daemon that is killed again and again',
  TIMES,
  async () => {
    const { code, said } = await soak('--minutes', '0.06', '--commands', '20', '--seed', '1')
    expect(said.at(-1)).toMatch(/^The soak held: \d+ commands, [1-9]\d* daemons killed/)
    expect(code).toBe(0)
  },
)

testIf(canMount, NEEDS_MOUNT)(
  'a short soak holds on a disk that is filled again and again',
  async () => {
    const { code, said } = await soak('--full-disk', '--minutes', '0.1', '--commands', '5', '--seed', '3')
    expect(said.at(-1)).toMatch(/^The soak held: [1-9]\d* commands, .*the disk filled [1-9]\d* times/)
    expect(code).toBe(0)
  },
  TIMES,
)

test('a short soak holds while keepers are killed too', TIMES, async () => {
  const { code, said } = await soak('--minutes', '0.08', '--commands', '20', '--seed', '2', '--keeper')
  expect(said.at(-1)).toMatch(/^The soak held: .* [1-9]\d* keepers killed/)
  expect(code).toBe(0)
})

test(
  'a short soak with few descriptors holds: what is too much is refused, what runs can be ended',
  TIMES,
  async () => {
    const { code, said } = await soak('--minutes', '0.02', '--seed', '3', '--few-descriptors')
    expect(said.at(-1)).toMatch(/^The soak held: \d+ commands begun, \d+ at once, [1-9]\d* refused/)
    expect(code).toBe(0)
  },
)

test('a short soak of quick commands says what daemon and keeper have in memory', TIMES, async () => {
  const { code, said } = await soak('--quick-commands', '24')
  expect(said[0]).toMatch(/^0 commands: daemon \d+ MB, heap [\d.]+ MB; keeper \d+ MB, heap [\d.]+ MB$/)
  expect(said.at(-1)).toMatch(/^The soak held: 24 quick commands; daemon .* MB; keeper .* MB\.$/)
  expect(code).toBe(0)
})
