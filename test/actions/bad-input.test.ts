import { embed, type Reeve } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { snapshotOf } from '../../src/testing/conformance/sound.ts'
import { tempStore } from '../temp-folder.ts'

const OUTSIDE = { kind: 'external', spec: { description: 'x' } } as const

/** Input of a caller without types. */
type Wild = {
  readonly [Name in keyof Reeve]: Reeve[Name] extends (...args: never[]) => infer Answer
    ? (input?: unknown) => Answer
    : never
}

async function begin() {
  const store = await openSqlite(tempStore())
  const reeve = await embed({ store })
  const eventTypes = {
    note: { schema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } },
  } as const
  const { record } = await reeve.spawn({ ...OUTSIDE, eventTypes })
  return {
    reeve,
    wild: reeve as unknown as Wild,
    pid: record.pid,
    store,
    async end() {
      await reeve.close()
      await store.close()
    },
  }
}

const cyclic: Record<string, unknown> = {}
cyclic['self'] = cyclic
const nested = (depth: number) => Array.from({ length: depth }).reduce<unknown>((inner) => [inner], 1)

test('invalid input is refused with the name of the field, and changes nothing', async () => {
  const { wild, pid, store, end } = await begin()
  const before = await snapshotOf(store)
  const cases: readonly (readonly [verb: keyof Reeve, input: unknown, says: RegExp])[] = [
    ['spawn', undefined, /kind/],
    ['spawn', null, /kind/],
    ['spawn', 7, /object/],
    ['spawn', { ...OUTSIDE, colour: 'red' }, /colour/],
    ['spawn', { kind: 'external', spec: { description: 'x', colour: 'red' } }, /colour/],
    ['spawn', { kind: 'planet', spec: {} }, /kind/],
    ['spawn', { kind: 'tool', spec: { tool: 7 } }, /spec\.tool/],
    ['spawn', { kind: 'command', spec: {} }, /either argv or run/],
    ['spawn', { ...OUTSIDE, pid: 'p_short' }, /pid/],
    ['spawn', { ...OUTSIDE, name: 'p_looks-like-a-pid' }, /name/],
    ['spawn', { ...OUTSIDE, owner: { session: '  ' } }, /owner\.session/],
    ['spawn', { ...OUTSIDE, owner: { turn: 't1' } }, /turn/],
    ['spawn', { ...OUTSIDE, owner: { planet: 'x' } }, /planet/],
    ['spawn', { ...OUTSIDE, owner: { source: '\ud800' } }, /owner\.source/],
    ['spawn', { ...OUTSIDE, idempotencyKey: 'a\u0000b' }, /idempotencyKey/],
    ['spawn', { ...OUTSIDE, limits: { attempts: 0 } }, /limits\.attempts/],
    ['spawn', { ...OUTSIDE, definition: Number.NaN }, /NaN/],
    ['spawn', { ...OUTSIDE, definition: 1n }, /bigint/],
    ['spawn', { ...OUTSIDE, definition: { at: new Date(0) } }, /definition\/at/],
    ['spawn', { ...OUTSIDE, definition: ['\ud800'] }, /definition\/0.*surrogate/],
    ['spawn', { ...OUTSIDE, definition: cyclic }, /deep/],
    ['spawn', { ...OUTSIDE, definition: nested(100_000) }, /deep/],
    ['spawn', { ...OUTSIDE, eventTypes: { note: { schema: { type: 'planet' } } } }, /planet/],
    ['spawn', { ...OUTSIDE, eventTypes: { 'Not-Lower': { schema: {} } } }, /eventTypes/],
    ['spawn', { ...OUTSIDE, eventTypes: { ended: { schema: {} } } }, /ended/],
    ['spawn', { ...OUTSIDE, recovery: 'rerunnable' }, /recovery/],
    ['spawnMany', { processes: [] }, /processes/],
    ['spawnMany', { processes: [OUTSIDE, { kind: 'external' }] }, /processes\.1\.spec/],
    ['append', { events: [{ pid, type: 'note' }] }, /payload/],
    ['append', { events: [{ pid: 'web', type: 'note', payload: 1 }] }, /events\.0\.pid/],
    ['end', { pid, status: 'abandoned', replayKey: 'k' }, /status/],
    ['end', { pid, status: 'completed' }, /replayKey/],
    ['end', { pid, status: 'completed', replayKey: '\u0000' }, /replayKey/],
    ['spawn', { kind: 'command', spec: { run: 'true' }, cwd: 'src' }, /cwd: must be an absolute path/],
    [
      'spawn',
      { kind: 'command', spec: { run: 'true', endSignal: 'SIGNOPE' } },
      /spec\.endSignal: .*OS signal/,
    ],
    ['changeCwd', { pid, cwd: './src' }, /cwd: must be an absolute path/],
    ['signal', { pid, signal: 'terminate' }, /signal: must be pause, .*SIGHUP/],
    ['signal', { pid, signal: 'SIGNOPE' }, /signal: must be pause, .*SIGHUP/],
    ['send', { pid, name: 'no spaces' }, /name/],
    ['send', { pid, name: 'go', value: new Map() }, /value/],
    ['wait', { pid, timeoutMs: -1 }, /timeoutMs/],
    ['wait', { pid, timeout: 5 }, /timeout/],
    ['list', { filter: { colour: 'red' } }, /colour/],
    ['list', { filter: { kind: 'planet' } }, /filter\.kind/],
    ['list', { filter: { status: 7 } }, /filter\.status/],
    ['list', { filter: { owner: { planet: 'x' } } }, /planet/],
    ['list', { filter: { createdAfter: 'yesterday' } }, /filter\.createdAfter/],
    ['list', { after: '12' }, /after/],
    ['list', { limit: 0 }, /limit/],
    ['list', { limit: 1_001 }, /limit/],
    ['events', { pid, after: 0.5 }, /after/],
    ['changes', { after: -1 }, /after/],
    ['notices', { scope: 'planet:x' }, /scope/],
    ['openSession', { session: 'x'.repeat(201) }, /session/],
    ['openSession', { session: '\ud800' }, /session/],
    ['prune', {}, /olderThanMs/],
    ['putEnvironment', { variables: { 'not a name': 'x' }, policy: {}, options: {} }, /variables/],
    ['putEnvironment', { variables: { TOKEN: { value: 'secret' } }, policy: {}, options: {} }, /variables/],
    ['answer', { key: '' }, /key/],
  ]
  for (const [verb, input, says] of cases) {
    const shown = `${verb} ${String(says)}`
    await expect(wild[verb](input), shown).rejects.toMatchObject({
      name: 'RefusedError',
      code: 'invalid_input',
      message: expect.stringMatching(says),
      remedy: expect.stringMatching(/./),
    })
  }
  expect(await snapshotOf(store)).toEqual(before)
  await end()
})

test('a refusal has a code and a remedy, changes nothing, and the next call works', async () => {
  const { reeve, pid, store, end } = await begin()
  const { record: gone } = await reeve.spawn(OUTSIDE)
  await reeve.end({ pid: gone.pid, status: 'completed', replayKey: 'e' })
  const before = await snapshotOf(store)
  const append = (type: string, payload: unknown) =>
    reeve.append({ events: [{ pid, type, payload: payload as never }] })
  const cases: readonly (readonly [code: string, act: () => Promise<unknown>])[] = [
    ['unknown_pid', () => reeve.show({ pid: 'p_zzzzzzzzzzzz' })],
    ['unknown_pid', () => reeve.show({ pid: 'no-such-name' })],
    ['unknown_pid', () => reeve.show({ pid: 'p_zzzz' })],
    ['unknown_pid', () => reeve.events({ pid: 'p_zzzzzzzzzzzz' })],
    ['unknown_pid', () => reeve.wait({ pid: 'p_zzzzzzzzzzzz' })],
    ['undeclared_event', () => append('never_declared', 1)],
    ['undeclared_event', () => append('constructor', 1)],
    ['payload_mismatch', () => append('note', { n: 'one' })],
    ['payload_mismatch', () => append('note', {})],
    ['payload_too_large', () => append('note', { n: 1, text: 'x'.repeat(1024 * 1024) })],
    ['conflict', () => reeve.spawn({ ...OUTSIDE, pid, label: 'another' })],
    ['already_ended', () => reeve.send({ pid: gone.pid, name: 'go' })],
    ['environment_unknown', () => reeve.environment({ envRef: 'f'.repeat(64) })],
  ]
  for (const [code, act] of cases)
    await expect(act(), code).rejects.toMatchObject({ code, remedy: expect.stringMatching(/./) })
  expect(await snapshotOf(store)).toEqual(before)
  await append('note', { n: 1 })
  expect((await reeve.show({ pid })).revision).toBe(2)
  await end()
})

test('a follower with invalid input throws at its first step', async () => {
  const { reeve, end } = await begin()
  await expect(reeve.follow({ after: -1 })[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    code: 'invalid_input',
  })
  await end()
})

test('a member name of Object.prototype is a name like any other', async () => {
  const { reeve, pid, end } = await begin()
  for (const name of ['constructor', '__proto__', 'toString']) {
    expect((await reeve.send({ pid, name, value: name })).type).toBe('sent')
    await expect(reeve.show({ pid: name })).rejects.toMatchObject({ code: 'unknown_pid' })
  }
  expect((await reeve.show({ pid })).revision).toBe(4)
  await end()
})

test('a request of more than a mebibyte is refused, and nothing is registered', async () => {
  const reeve = await embed({ store: tempStore() })
  onTestFinished(() => reeve.close())
  const definition = 'x'.repeat(1024 * 1024)
  await expect(
    reeve.spawn({ kind: 'external', spec: { description: 'large' }, definition }),
  ).rejects.toMatchObject({
    code: 'payload_too_large',
  })
  expect((await reeve.list()).processes).toEqual([])
})

test('a field that is undefined counts as left out', async () => {
  const reeve = await embed({ store: tempStore() })
  onTestFinished(() => reeve.close())
  const definition = { kept: 1, gone: undefined as unknown as null }
  const given = { ...OUTSIDE, name: undefined as unknown as string, definition }
  const { record } = await reeve.spawn(given)
  expect([record.name, record.identity.definition]).toEqual([null, { kept: 1 }])
})

test('unknown and invalid options of embed are named', async () => {
  const wild = embed as (options?: unknown) => Promise<Reeve>
  const store = tempStore()
  for (const [options, said] of [
    [undefined, /embed/],
    [{}, /store/],
    [{ sotre: store }, /sotre/],
    [{ store, tool: {} }, /tool/],
    [{ store, tools: { bad: 'x' } }, /tools\.bad: must be a function/],
    [{ store, concurrency: 0 }, /concurrency/],
    [{ store, concurrency: '4' }, /concurrency/],
    [{ store: {} }, /store: .*must be a file/],
  ] as const)
    await expect(wild(options), JSON.stringify(options)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(said),
    })
})

test('an error about a misspelt status lists the valid ones', async () => {
  const reeve = await embed({ store: tempStore() })
  onTestFinished(() => reeve.close())
  const filter = { status: 'runing' as 'running' }
  await expect(reeve.list({ filter })).rejects.toThrow(/filter\.status: .*running/)
})

test('an error about an unknown field says where it belongs, which one was meant, or which ones exist', async () => {
  const { wild, pid, end } = await begin()
  const run = { kind: 'command', spec: { run: 'true' } }
  const cases: readonly (readonly [verb: keyof Reeve, input: unknown, says: string])[] = [
    [
      'spawn',
      { kind: 'command', spec: { run: 'true', cwd: '/' } },
      'spec: there is no field "cwd" here; it stands beside spec',
    ],
    ['spawn', { ...run, timeoutMs: 5 }, 'there is no field "timeoutMs" here; it goes into spec'],
    ['spawn', { ...run, memoryBytes: 5 }, 'there is no field "memoryBytes" here; it goes into spec.limits'],
    ['spawn', { ...run, lifetme: 'turn' }, 'there is no field "lifetme" here; did you mean lifetime?'],
    [
      'spawn',
      { kind: 'tool', spec: { tool: 'x', run: 'y' } },
      'spec: there is no field "run" here, only tool, input',
    ],
    [
      'spawn',
      { kind: 'command', spec: { run: 'true', pty: { columns: 80 } } },
      'there is no field "columns" here, only cols, rows',
    ],
    [
      'spawnMany',
      { processes: [run, { ...run, argv: [] }] },
      'processes.1: there is no field "argv" here; it goes into processes.1.spec',
    ],
    ['list', { status: 'any' }, 'there is no field "status" here; it goes into filter'],
    [
      'list',
      { filter: { session: 's1' } },
      'filter: there is no field "session" here; it goes into filter.owner',
    ],
    ['wait', { pid, timeout: 5 }, 'there is no field "timeout" here; did you mean timeoutMs?'],
    ['show', { pid, colour: 1 }, 'there is no field "colour" here, only pid'],
    ['end', { pid, status: 'completed', replayKey: 'k', toString: 1 }, 'there is no field "toString" here'],
  ]
  for (const [verb, input, says] of cases)
    await expect(wild[verb](input), says).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining(says),
    })
  await expect(wild.spawn({ kind: 'command', spec: { run: 'true', timeoutMs: -1 } })).rejects.toThrow(
    /^[^;]*spec\.timeoutMs: [^;]*>=1\.$/,
  )
  await end()
})
