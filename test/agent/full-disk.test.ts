import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineTool, embed } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { DISK_FULL, failing } from '../failing-transaction.ts'
import { NEEDS_MOUNT, testIf } from '../reporting/test-if.ts'
import { canMount, SmallDisk } from '../small-disk.ts'
import { tempFolder, tempStore } from '../temp-folder.ts'
import { TEST_PRESET } from '../test-preset.ts'
import { HeldModel } from './held-model.ts'
import { payloads, scriptedAgents } from './scripted-agent.ts'

/** An agent whose store says that its disk is full, from `fill` to `makeRoom`. */
async function agentOnFullDisk() {
  const faults: { at?: 'apply' } = {}
  const store = await openSqlite(tempStore(), { wrap: (inner) => failing(inner, faults, DISK_FULL) })
  let troubled: () => void = () => undefined
  const model = new HeldModel()
  const gate = Promise.withResolvers<string>()
  const called = Promise.withResolvers<void>()
  const wait = defineTool({
    name: 'wait',
    description: 'Waits.',
    input: z.object({}),
    run: () => {
      called.resolve()
      return gate.promise
    },
  })
  const reeve = await embed({
    store,
    models: { 'my/model': model },
    tools: [wait],
    onTrouble: () => troubled(),
    ...TEST_PRESET,
  })
  onTestFinished(async () => {
    delete faults.at
    await reeve.close()
    await store.close()
  })
  const spec = { agent: 'helper', model: 'my/model', goal: 'go' }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: tempFolder(), spec })
  return {
    reeve,
    pid: record.pid,
    model,
    gate,
    called,
    /** Resolves when something could not be written. */
    fill: () => {
      faults.at = 'apply'
      return new Promise<void>((resolve) => {
        troubled = resolve
      })
    },
    makeRoom: () => {
      delete faults.at
    },
  }
}

test('an answer that arrives on a full disk is kept until there is room: the model is called once, and an entry says it', async () => {
  const { reeve, pid, model, fill, makeRoom } = await agentOnFullDisk()
  const call = await model.next()
  const isFull = fill()
  call.answer('the answer')
  await isFull
  expect((await reeve.inspectAgent({ pid })).phase).toBe('running')
  makeRoom()
  expect(await reeve.waitAgent({ pid, turn: 1 })).toMatchObject({
    turn: { reason: 'finished', result: 'the answer', calls: 1 },
  })
  await expect
    .poll(() => payloads(reeve, pid, 'agent_failed'))
    .toMatchObject([{ turn: 1, code: 'store_full' }])
  expect(await payloads(reeve, pid, 'model_used')).toMatchObject([{ call: 1, isEstimate: false }])
})

test('a tool that ends on a full disk runs once, and its result is in the log when there is room', async () => {
  const { reeve, pid, model, gate, called, fill, makeRoom } = await agentOnFullDisk()
  ;(await model.next()).call('wait')
  await called.promise
  const isFull = fill()
  gate.resolve('done')
  await isFull
  makeRoom()
  const next = await model.next()
  expect(next.prompt).toContain('done')
  next.answer('finished')
  expect(await reeve.waitAgent({ pid, turn: 1 })).toMatchObject({ turn: { reason: 'finished' } })
  expect(await payloads(reeve, pid, 'tool_answered')).toMatchObject([{ isError: false }])
})

testIf(canMount, NEEDS_MOUNT)(
  'a write to a full disk is an error result, leaves the file as it was, and the session stays valid',
  async () => {
    const disk = new SmallDisk(tempFolder(), 256 * 1024)
    onTestFinished(() => disk.unmount())
    const workspace = join(disk.folder, 'work')
    mkdirSync(workspace)
    writeFileSync(join(workspace, 'a.txt'), 'old')
    const { reeve, start, workspace: scripts } = await scriptedAgents()
    expect(await start([])).toMatch(/^p_/)
    const content = 'x'.repeat(200_000)
    const answers = [
      { parts: [{ tool: 'read_file', input: { path: 'a.txt' } }] },
      { parts: [{ tool: 'write_file', input: { path: 'a.txt', content } }] },
      { parts: [{ text: 'no room' }] },
    ]
    const script = join(scripts, 'full.json')
    writeFileSync(script, JSON.stringify({ answers, atEnd: 'repeat' }))
    disk.fill()
    const spec = { agent: 'helper', model: `scripted/${script}`, goal: 'go' }
    const { record } = await reeve.spawn({ kind: 'agent', cwd: workspace, spec })
    const { pid } = record
    expect(await reeve.waitAgent({ pid, turn: 1 })).toMatchObject({
      turn: { reason: 'finished', result: 'no room' },
    })
    expect(await payloads(reeve, pid, 'tool_answered')).toMatchObject([
      { isError: false },
      { isError: true, parts: [{ text: 'a.txt could not be written: the disk is full.' }] },
    ])
    expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('old')
    await reeve.runAgent({ pid, text: 'again' })
    expect(await reeve.waitAgent({ pid, turn: 2 })).toMatchObject({ turn: { reason: 'finished' } })
  },
)
