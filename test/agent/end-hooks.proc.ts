import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Embedded, embed } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { type JsonObject, objectOf } from '../../src/core/json/json.ts'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'
import { HeldModel } from './held-model.ts'
import { payloads, scriptedAgents } from './scripted-agent.ts'

const WAIT_MS = 60_000
const SAYS = { parts: [{ text: 'Done.' }] }
const ENDS = [
  { event: 'turn_end', run: 'cat' },
  { event: 'session_end', run: 'cat' },
]

function optionsOf({ store, keeperHome }: TempReeve) {
  return { store, commands: { home: keeperHome.folder, environment: 'inherit', shell: '/bin/sh' } } as const
}

/** The ended hooks of an agent, as what each has read, the oldest first. */
async function hooksRead(reeve: Embedded, pid: string): Promise<readonly JsonObject[]> {
  const filter = { owner: { session: `agent:${pid}` }, kind: 'command', status: 'any' } as const
  const { processes } = await reeve.list({ filter })
  const hooks = processes
    .map(({ record }) => record)
    .filter(({ causedBy }) => causedBy?.['source'] === 'hook')
  const texts = await Promise.all(
    hooks
      .toSorted((a, b) => a.createdAt - b.createdAt)
      .map(async (hook) => {
        await reeve.wait({ pid: hook.pid, timeoutMs: WAIT_MS })
        const { lines } = await reeve.log({ pid: hook.pid })
        return JSON.parse(lines.map(({ text }) => text).join('')) as JsonObject
      }),
  )
  return texts
}

/** What the hooks have read, once there are as many. */
async function hooksOf(reeve: Embedded, pid: string, count: number): Promise<readonly JsonObject[]> {
  await expect
    .poll(async () => (await hooksRead(reeve, pid)).length, { timeout: WAIT_MS })
    .toBeGreaterThanOrEqual(count)
  return hooksRead(reeve, pid)
}

test('the hooks of a turn end run once for each turn, however it ends, and read its reason', async () => {
  const model = new HeldModel()
  const { reeve, start } = await scriptedAgents({
    ...optionsOf(new TempReeve()),
    models: { 'my/model': model },
  })
  const pid = await start([], { model: 'my/model', hooks: ENDS })
  const ended = (turn: number) => reasonAt(reeve, pid, turn)
  await reeve.runAgent({ pid, text: 'finish' })
  ;(await model.next()).answer('Done.')
  expect(await ended(1)).toBe('finished')
  await reeve.runAgent({ pid, text: 'roll back' })
  await model.next()
  await reeve.cancelTurn({ pid })
  expect(await ended(2)).toBe('rolled_back')
  await reeve.runAgent({ pid, text: 'cancel' })
  const begun = await model.next()
  begun.begin()
  await hasOutput(reeve, pid, 3)
  await reeve.cancelTurn({ pid })
  expect(await ended(3)).toBe('cancelled')
  await reeve.runAgent({ pid, text: 'pause' })
  const paused = await model.next()
  paused.begin()
  await hasOutput(reeve, pid, 4)
  await reeve.pauseAgent({ pid })
  await reeve.runAgent({ pid, text: 'and go on with this' })
  expect(await ended(4)).toBe('paused')
  ;(await model.next()).answer('Done.')
  expect(await ended(5)).toBe('finished')
  const read = await hooksOf(reeve, pid, 5)
  expect(read.map(({ turn, reason }) => [turn, reason]).toSorted()).toEqual([
    [1, 'finished'],
    [2, 'rolled_back'],
    [3, 'cancelled'],
    [4, 'paused'],
    [5, 'finished'],
  ])
  expect(read[0]).toEqual({ event: 'turn_end', agent: pid, turn: 1, reason: 'finished' })
})

async function reasonAt(reeve: Embedded, pid: string, turn: number): Promise<string | undefined> {
  const waited = await reeve.waitAgent({ pid, turn, timeoutMs: WAIT_MS })
  return 'turn' in waited ? waited.turn?.reason : undefined
}

async function hasOutput(reeve: Embedded, pid: string, turn: number): Promise<void> {
  const turns = async () => (await payloads(reeve, pid, 'output_begun')).map((begun) => begun['turn'])
  await expect.poll(turns, { timeout: WAIT_MS }).toContain(turn)
}

test('turns that fail, that a limit ends and that have no model run their hooks', async () => {
  const { reeve, start } = await scriptedAgents(optionsOf(new TempReeve()))
  const failing = await start([{ fail: { status: 400, message: 'bad' } }], { goal: 'go', hooks: ENDS })
  const limited = await start(
    { answers: [SAYS], atEnd: 'repeat' },
    { hooks: ENDS },
    { allowance: { modelCalls: 1 } },
  )
  const invalid = await start([SAYS], { goal: 'go', model: 'scripted/missing.json', hooks: ENDS })
  for (const text of ['one', 'two']) {
    await reeve.runAgent({ pid: limited, text })
    await reeve.waitAgent({ pid: limited, turn: text === 'one' ? 1 : 2, timeoutMs: WAIT_MS })
  }
  const reasonOf = async (pid: string) => (await hooksOf(reeve, pid, 1)).map(({ reason }) => reason)
  expect(await reasonOf(failing)).toEqual(['provider_error'])
  expect(await reasonOf(invalid)).toEqual(['setup_failed'])
  expect((await hooksOf(reeve, limited, 2)).map(({ reason }) => reason)).toEqual([
    'finished',
    'limit:modelCalls',
  ])
})

test.each([
  ['its goal is reached', 'completed', async () => undefined],
  ['it is shut down', 'completed', (reeve: Embedded, pid: string) => reeve.shutDownAgent({ pid })],
  ['it is killed', 'cancelled', (reeve: Embedded, pid: string) => reeve.kill({ pid })],
  ['the session above it ends', 'cancelled', (reeve: Embedded) => reeve.endSession({ session: 'above' })],
])('the hooks of a session end run once when %s', async (how, status, end) => {
  const { reeve, start } = await scriptedAgents(optionsOf(new TempReeve()))
  await reeve.openSession({ session: 'above' })
  const once = how === 'its goal is reached' ? { once: true } : {}
  const more = { owner: { session: 'above' }, lifetime: 'session' } as const
  const pid = await start([SAYS], { goal: 'go', hooks: ENDS, ...once }, more)
  await reeve.waitAgent({ pid, turn: 1, timeoutMs: WAIT_MS })
  await hooksOf(reeve, pid, 1)
  await end(reeve, pid)
  expect(await reeve.wait({ pid, timeoutMs: WAIT_MS })).toMatchObject({ record: { outcome: { status } } })
  const read = await hooksOf(reeve, pid, 2)
  expect(read).toHaveLength(2)
  expect(read.find(({ event }) => event === 'session_end')).toMatchObject({ agent: pid, turn: 1, status })
})

test('a hook of an end holds up neither the cancel nor the next turn, and is under the rules of its agent after the end of it', async () => {
  const { reeve, start, workspace } = await scriptedAgents(optionsOf(new TempReeve()))
  const hooks = [
    { event: 'turn_end', run: 'while [ ! -e released ]; do sleep 0.05; done' },
    { event: 'session_end', run: 'rm -rf forbidden' },
    { event: 'session_end', run: 'cat' },
  ]
  const pid = await start({ answers: [SAYS], atEnd: 'repeat' }, { hooks })
  await reeve.addRule({ to: { type: 'process', pid }, rule: { effect: 'deny', resource: 'shell:rm' } })
  await reeve.runAgent({ pid, text: 'one' })
  await reeve.waitAgent({ pid, turn: 1, timeoutMs: WAIT_MS })
  await reeve.runAgent({ pid, text: 'two' })
  expect(await reasonAt(reeve, pid, 2)).toBe('finished')
  await reeve.shutDownAgent({ pid })
  await reeve.wait({ pid, timeoutMs: WAIT_MS })
  const labels = async () => {
    const filter = { owner: { session: `agent:${pid}` }, kind: 'command', status: 'any' } as const
    const { processes } = await reeve.list({ filter })
    return processes.map(({ record }) => [record.identity.label, objectOf(record.spec)['run']])
  }
  await expect.poll(async () => (await labels()).length, { timeout: WAIT_MS }).toBe(3)
  expect((await labels()).filter(([label]) => label === 'hook session_end')).toEqual([
    ['hook session_end', 'cat'],
  ])
  writeFileSync(join(workspace, 'released'), '')
})

const FIXTURE = fileURLToPath(new URL('../fixtures/killed-at-end.ts', import.meta.url))

test.each(['marked', 'started'])(
  'after kill -9 between an end and its hooks (%s) each runs once',
  async (death) => {
    const temp = new TempReeve()
    const workspace = tempFolder()
    writeFileSync(join(workspace, 'script.json'), JSON.stringify({ answers: [SAYS] }))
    const hooks = [{ event: 'turn_end', run: 'echo ran >> effects' }]
    const spec = { agent: 'helper', model: 'scripted/script.json', hooks }
    const args = [temp.store, temp.keeperHome.folder, workspace, JSON.stringify(spec), death]
    const child = spawn(process.execPath, ['--conditions=reeve-source', FIXTURE, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const gone = once(child, 'exit')
    const [pid] = (await once(createInterface(child.stdout), 'line')) as [string]
    expect(await gone).toEqual([null, 'SIGKILL'])
    const reeve = await embed(optionsOf(temp))
    onTestFinished(() => reeve.close())
    const filter = { owner: { session: `agent:${pid}` }, kind: 'command', status: 'any' } as const
    const ended = async () =>
      (await reeve.list({ filter })).processes.map(({ record }) => record.outcome?.status)
    await expect.poll(ended, { timeout: WAIT_MS }).toEqual(['completed'])
    expect(readFileSync(join(workspace, 'effects'), 'utf8')).toBe('ran\n')
  },
)
