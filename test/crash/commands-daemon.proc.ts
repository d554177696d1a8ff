import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InputOf, Reeve } from 'reeve'
import { expect, test } from 'vitest'
import { ended, TempReeve, textOf } from '../command/commands.ts'
import { type DaemonProgram, startDaemon } from '../command/daemon-program.ts'
import { until } from '../keeper/client.ts'
import { Random } from '../simulation/random.ts'
import { counting, expectWhole } from './counted.ts'

type CommandSpec = Extract<InputOf<'spawn'>, { kind: 'command' }>['spec']

async function endEvents(reeve: Reeve, pid: string): Promise<number> {
  return (await reeve.events({ pid })).events.filter(({ type }) => type === 'ended').length
}

test('commands and terminals outlive a daemon that is killed again and again: no byte lost, the real codes, one end each', async () => {
  await using temp = new TempReeve()
  const go = join(temp.folder, 'go')
  const kinds: Readonly<Record<string, Partial<CommandSpec>>> = {
    pipe: {},
    tagged: { output: 'tagged' },
    direct: { output: 'direct' },
    input: { stdin: 'pipe' },
    terminal: { pty: true },
  }
  let daemon: DaemonProgram = await startDaemon(temp)
  const keeper = temp.keeper().id
  const started: { name: string; pid: string; code: number }[] = []
  for (let round = 0; round < 4; round++) {
    for (const [name, spec] of Object.entries(kinds)) {
      const code = 10 + started.length
      const command = {
        kind: 'command',
        spec: { run: counting(go, { code, pause: '0.1' }), ...spec },
      } as const
      const { record } = await daemon.call('spawn', command)
      started.push({ name: `${name} of round ${round}`, pid: record.pid, code })
    }
    await daemon.kill()
    daemon = await startDaemon(temp)
  }
  await daemon.kill()
  const reeve = await temp.embed()
  const { boot } = await reeve.status()
  expect([...boot.adopted].sort()).toEqual(started.map(({ pid }) => pid).sort())
  writeFileSync(go, '')
  for (const { name, pid, code } of started) {
    expect((await ended(reeve, pid)).outcome, name).toMatchObject({
      status: 'failed',
      exitCode: code,
      reason: null,
    })
    expectWhole(await textOf(reeve, pid), name)
    expect(await endEvents(reeve, pid), name).toBe(1)
  }
  expect(temp.keeper().id).toBe(keeper)
  expect(temp.programs()).toEqual([])
})

test('a daemon that is killed amid its spawns has begun each of them at most once, and repeating them begins the rest', async () => {
  const seed = 20_260_103
  const random = new Random(seed)
  await using temp = new TempReeve()
  const ran = join(temp.folder, 'ran')
  writeFileSync(ran, '')
  const keys = Array.from({ length: 120 }, (_, index) => `k${index}`)
  const request = (key: string): InputOf<'spawn'> => ({
    kind: 'command',
    spec: { run: `echo ${key} >> ${ran}; echo ran ${key}; exit 5` },
    lifetime: 'detached',
    idempotencyKey: key,
  })
  for (let round = 0; round < 8; round++) {
    const daemon = await startDaemon(temp)
    const enough = random.between(0, 40)
    for (const [id, key] of keys.entries())
      daemon.tell(JSON.stringify({ id, verb: 'spawn', input: request(key) }))
    await until(
      'some of them are answered',
      () => daemon.said.filter((line) => 'answer' in line).length >= enough,
    )
    for (let turn = random.between(0, 20); turn > 0; turn--) await new Promise(setImmediate)
    await daemon.kill()
  }
  const reeve = await temp.embed()
  for (const key of keys) {
    const { record } = await reeve.spawn(request(key))
    const { outcome, pid } = await ended(reeve, record.pid)
    expect([outcome?.status, outcome?.exitCode], `${key}, seed ${seed}`).toEqual(['failed', 5])
    expect(await textOf(reeve, pid)).toBe(`ran ${key}\n`)
    expect(await endEvents(reeve, pid)).toBe(1)
  }
  expect(readFileSync(ran, 'utf8').split('\n').filter(Boolean).sort()).toEqual([...keys].sort())
})

test('standard input works after kill -9 of the daemon, and earlier input is not typed again', async () => {
  await using temp = new TempReeve()
  const daemon = await startDaemon(temp)
  const { record } = await daemon.call('spawn', { kind: 'command', spec: { argv: ['cat'], stdin: 'pipe' } })
  const { pid } = record
  await daemon.call('submit', { pid, text: 'one', seq: 1 })
  await daemon.kill()
  const reeve = await temp.embed()
  expect(await reeve.submit({ pid, text: 'one', seq: 1 })).toMatchObject({ type: 'replayed', bytes: 4 })
  expect(await reeve.submit({ pid, text: 'two', seq: 2 })).toMatchObject({ type: 'written', bytes: 4 })
  await reeve.closeInput({ pid })
  expect((await ended(reeve, pid)).outcome).toMatchObject({ status: 'completed' })
  expect(await textOf(reeve, pid)).toBe('one\ntwo\n')
})

test('a kill that was asked of a daemon which then dies is carried through', async () => {
  await using temp = new TempReeve()
  const daemon = await startDaemon(temp)
  const { record } = await daemon.call('spawn', {
    kind: 'command',
    spec: { run: "trap 'echo asked' TERM; echo ready; while :; do sleep 0.02; done" },
  })
  const { pid } = record
  await daemon.call('wait', { pid, until: { text: 'ready' } })
  daemon.tell(JSON.stringify({ id: 0, verb: 'kill', input: { pid, graceMs: 1_500 } }))
  await daemon.call('wait', { pid, until: { text: 'asked' } })
  await daemon.kill()
  const reeve = await temp.embed()
  expect((await ended(reeve, pid)).outcome).toMatchObject({
    status: 'cancelled',
    reason: 'killed',
    signal: 'SIGKILL',
    source: 'host',
  })
  expect(await endEvents(reeve, pid)).toBe(1)
  expect(temp.programs()).toEqual([])
})

test('a command that ended while its daemon was dead has its real exit code, and one notice', async () => {
  await using temp = new TempReeve()
  const daemon = await startDaemon(temp)
  const go = join(temp.folder, 'go')
  const pids: string[] = []
  for (let code = 1; code <= 20; code++) {
    const { record } = await daemon.call('spawn', {
      kind: 'command',
      spec: { run: counting(go, { code, pause: '0.1' }) },
    })
    pids.push(record.pid)
  }
  await daemon.kill()
  writeFileSync(go, '')
  await until('all of them have ended', () => temp.programs().length === 0)
  const reeve = await temp.embed()
  for (const [index, pid] of pids.entries()) {
    expect((await ended(reeve, pid)).outcome).toMatchObject({ exitCode: index + 1, evidence: null })
    expectWhole(await textOf(reeve, pid), pid)
    expect(await endEvents(reeve, pid)).toBe(1)
  }
  expect((await reeve.status()).live).toBe(0)
})
