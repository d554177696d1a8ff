import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { leftBy } from '../examples/left-by.ts'
import { exitOf, until } from '../keeper/client.ts'
import { NEEDS_MOUNT, testIf } from '../reporting/test-if.ts'
import { canMount } from '../small-disk.ts'
import { tempFolder } from '../temp-folder.ts'

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url))

function start(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const program = spawn(process.execPath, ['--conditions=reeve-source', MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  const exited = exitOf(program)
  // A soak whose test timed out cleans up, and has ended when the next test begins.
  onTestFinished(async () => {
    program.kill('SIGTERM')
    const lastResort = setTimeout(() => program.kill('SIGKILL'), 90_000)
    await exited
    clearTimeout(lastResort)
  })
  program.stdout.setEncoding('utf8')
  return { program, exited }
}

async function soak(...args: string[]): Promise<{ code: number | null; said: string[] }> {
  const { program, exited } = start(args)
  let text = ''
  program.stdout.on('data', (chunk: string) => {
    text += chunk
  })
  const code = await exited
  return { code, said: text.trimEnd().split('\n') }
}

const TIMES = { timeout: 300_000 }
/** A rare failure is a defect. */
const PROOF = { ...TIMES, retry: 0 }

test('a short soak holds while the daemon is killed repeatedly', TIMES, async () => {
  const { code, said } = await soak('--minutes', '0.06', '--commands', '20', '--seed', '1')
  expect(said.at(-1)).toMatch(/^The soak held: \d+ commands, [1-9]\d* daemons killed/)
  expect(code).toBe(0)
})

testIf(canMount, NEEDS_MOUNT)(
  'a short soak holds on a disk that is filled repeatedly',
  async () => {
    const { code, said } = await soak('--full-disk', '--minutes', '0.1', '--commands', '5', '--seed', '3')
    expect(said.at(-1)).toMatch(/^The soak held: [1-9]\d* commands, .*the disk filled [1-9]\d* times/)
    expect(code).toBe(0)
  },
  TIMES,
)

test('a short soak holds while daemons and keepers are killed', TIMES, async () => {
  const { code, said } = await soak('--minutes', '0.08', '--commands', '20', '--seed', '2', '--keeper')
  expect(said.at(-1)).toMatch(/^The soak held: .* [1-9]\d* keepers killed/)
  expect(code).toBe(0)
})

test(
  'a short soak with few descriptors refuses excess commands and can kill running ones',
  TIMES,
  async () => {
    const { code, said } = await soak('--minutes', '0.02', '--seed', '3', '--few-descriptors')
    expect(said.at(-1)).toMatch(/^The soak held: \d+ commands begun, \d+ at once, [1-9]\d* refused/)
    expect(code).toBe(0)
  },
)

test('agents lose nothing while their daemons are killed', PROOF, async () => {
  const { code, said } = await soak('agent', '--kills', '2', '--store', 'sqlite', '--seed', '1')
  expect(said.at(-1)).toMatch(
    /^2 daemons killed, .* [1-9]\d* inputs, .*; 0 tools run twice, 0 inputs lost, 0 invalid prompts$/,
  )
  expect(code).toBe(0)
})

test(
  'calls of MCP servers are sent once and answered while daemons and servers are killed',
  PROOF,
  async () => {
    const { code, said } = await soak('mcp', '--kills', '3', '--store', 'sqlite', '--seed', '1')
    expect(said.at(-1)).toMatch(
      /^3 daemons killed, .* [1-9]\d* servers killed in a call; .*; 0 calls sent twice, 0 answers lost, 0 questions asked twice$/,
    )
    expect(code).toBe(0)
  },
)

test('a short soak of quick commands reports the memory of daemon and keeper', TIMES, async () => {
  const { code, said } = await soak('--quick-commands', '24')
  expect(said[0]).toMatch(/^0 commands: daemon \d+ MB, heap [\d.]+ MB; keeper \d+ MB, heap [\d.]+ MB$/)
  expect(said.at(-1)).toMatch(/^The soak held: 24 quick commands; daemon .* MB; keeper .* MB\.$/)
  expect(code).toBe(0)
})

test(
  'a short soak of approvals doubles nothing, loses nothing and begins nothing without a yes',
  PROOF,
  async () => {
    const { code, said } = await soak('approvals', '--kills', '2', '--store', 'sqlite', '--seed', '1')
    expect(said.at(-1)).toMatch(
      /^2 daemons killed, .*; [1-9]\d* actions approved, .* counted uses spent; .*; 0 doubled, 0 lost, 0 begun without a yes$/,
    )
    expect(code).toBe(0)
  },
)

test('a short soak of denials leaves a bounded audit on both stores', PROOF, async () => {
  const { code, said } = await soak('denials', '--count', '300')
  const held = said.filter((line) => line.startsWith('The soak held: 300 denials on '))
  expect(held.map((line) => / on (\w+) /.exec(line)?.[1])).toEqual(['sqlite', 'postgres'])
  expect(code).toBe(0)
})

for (const [name, args] of [
  ['with killed daemons', ['--minutes', '5', '--commands', '5']],
  ['with few descriptors', ['--minutes', '5', '--few-descriptors']],
  ['of approvals', ['approvals', '--kills', '1000', '--store', 'sqlite']],
] as const)
  test(`a soak ${name} that is stopped leaves no process and no file`, TIMES, async () => {
    const folder = tempFolder()
    const { program, exited } = start(args, { TMPDIR: folder })
    await until('the soak has a keeper', () => leftBy(folder).some((line) => line.includes('keeper/main')))
    program.kill('SIGTERM')
    expect(await exited).toBe(130)
    expect(leftBy(folder)).toEqual([])
    expect(readdirSync(folder)).toEqual([])
  })
