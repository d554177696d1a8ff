import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test } from 'vitest'
import { type Embedded, embed } from '../../src/index.ts'
import type { Store } from '../../src/store/contract.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { quickFolder } from '../quick-folder.ts'
import { fixture, schemaOf, sqliteFile } from './earlier-stores.ts'

/** What the workflows of version 8 were given: it contains the former words, and must stay as it is. */
const INPUT = { kind: 'engine', spec: { engine: 'x', status: 'ready' }, text: '","kind":"engine",' }

interface Pids {
  readonly order: string
  readonly parent: string
  readonly queued: string
  readonly paused: string
  readonly tool: string
  readonly quick: string
  readonly echo: string
  readonly sleep: string
}

test('processes of a SQLite file in which workflows were engines go on', async () => {
  const { sql, pids } = fixture<Pids>('sqlite-8.sql')
  await expectToGoOn(await openSqlite(sqliteFile(sql)), pids, sql)
})

test('processes of a PostgreSQL schema in which workflows were engines go on', async () => {
  const { sql, pids } = fixture<Pids>('postgres-12.sql')
  await expectToGoOn(
    await openPostgres(inject('postgresUrl'), { schema: await schemaOf(12, sql) }),
    pids,
    sql,
  )
})

test('workflows of a SQLite file of the previous version go on, and repeat no step', async () => {
  const { sql, pids } = fixture<StepPids>('sqlite-9.sql')
  await expectStepsToGoOn(await openSqlite(sqliteFile(sql)), pids)
})

test('workflows of a PostgreSQL schema of the previous version go on, and repeat no step', async () => {
  const { sql, pids } = fixture<StepPids>('postgres-13.sql')
  await expectStepsToGoOn(
    await openPostgres(inject('postgresUrl'), { schema: await schemaOf(13, sql) }),
    pids,
  )
})

async function expectToGoOn(store: Store, pids: Pids, sql: string): Promise<void> {
  onTestFinished(() => store.close())
  const steps: string[] = []
  const reeve = await embed({
    store,
    commands: { home: dataFolder(sql) },
    workflows: {
      order: async (ctx, input) => {
        const charged = await ctx.step('charge', () => steps.push('charge again') && 'charged again')
        const answer = await ctx.waitForSignal('go')
        const shipped = await ctx.step('ship', () => 'shipped')
        return { charged, answer, shipped, input }
      },
      parent: async (ctx) => {
        const child = await ctx.spawn({ kind: 'workflow', spec: { workflow: 'child', input: INPUT } })
        return (await ctx.wait(child)).result
      },
      child: async (ctx, input) => {
        await ctx.waitForSignal('done')
        return input
      },
    },
  })
  onTestFinished(() => reeve.close())
  await expectNewWords(reeve, pids)
  await expectExistingByKey(reeve, pids)

  await reeve.send({ pid: pids.order, name: 'go', value: 'yes' })
  const order = await ended(reeve, pids.order)
  expect(order.outcome).toMatchObject({
    status: 'completed',
    result: { charged: 'charged', answer: 'yes', shipped: 'shipped', input: INPUT },
  })
  expect(steps).toEqual([])

  const children = await reeve.list({ filter: { parent: [pids.parent] } })
  const [child] = children.processes.map(({ record }) => record)
  expect(child).toMatchObject({ kind: 'workflow', spec: { workflow: 'child', input: INPUT } })
  await reeve.send({ pid: child?.pid ?? '', name: 'done', value: null })
  expect((await ended(reeve, pids.parent)).outcome).toMatchObject({ status: 'completed', result: INPUT })

  expect((await ended(reeve, pids.sleep)).outcome).toMatchObject({ status: 'abandoned' })
  await reeve.workflow('absent', (_ctx, input) => input)
  expect((await ended(reeve, pids.queued)).outcome).toMatchObject({ status: 'completed', result: 1 })
  await reeve.signal({ pid: pids.paused, signal: 'resume' })
  expect((await ended(reeve, pids.paused)).outcome).toMatchObject({ status: 'completed' })
}

async function expectNewWords(reeve: Embedded, pids: Pids): Promise<void> {
  expect(await reeve.show({ pid: pids.queued })).toMatchObject({
    kind: 'workflow',
    spec: { workflow: 'absent', input: 1 },
    status: 'queued',
  })
  expect(await reeve.show({ pid: pids.paused })).toMatchObject({ status: 'paused', pausedFrom: 'queued' })
  expect(await reeve.show({ pid: pids.quick })).toMatchObject({ kind: 'workflow', status: 'completed' })
  expect(await reeve.show({ pid: pids.echo })).toMatchObject({ kind: 'command', status: 'completed' })
  expect(await reeve.show({ pid: pids.tool })).toMatchObject({
    kind: 'tool',
    spec: { tool: 'absent', input: INPUT },
    status: 'queued',
  })
  const { processes } = await reeve.list({ filter: { status: 'any', kind: ['workflow'] } })
  expect(processes).toHaveLength(6)
  const { events } = await reeve.events({ pid: pids.parent })
  expect(events.find(({ type }) => type === 'child_registered')?.payload).toMatchObject({ kind: 'workflow' })
}

/** The kind is part of the hash that a repeated request is compared by. */
async function expectExistingByKey(reeve: Embedded, pids: Pids): Promise<void> {
  const again = await reeve.spawn({
    kind: 'workflow',
    spec: { workflow: 'absent', input: 1 },
    idempotencyKey: 'queued-1',
    lifetime: 'detached',
  })
  expect([again.type, again.record.pid]).toEqual(['existing', pids.queued])
}

async function ended(reeve: Embedded, pid: string) {
  const waited = await reeve.wait({ pid, timeoutMs: 60_000 })
  expect(waited.type).toBe('ended')
  return reeve.show({ pid })
}

/** A data folder with the id of the one that the commands of the fixture ran in. */
function dataFolder(sql: string): string {
  const folder = mkdtempSync(join(quickFolder, 'reeve-previous-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const home = join(folder, 'commands')
  mkdirSync(home, { mode: 0o700 })
  const [, id] = /"placement":"folder:(\w+)"/.exec(sql) ?? []
  writeFileSync(join(home, 'home.json'), JSON.stringify({ id }), { mode: 0o600 })
  return home
}

/** What the workflows of version 9 were given, and answered: members with the former name are theirs, and stay. */
const GIVEN = { place: 1, list: [{ place: 2 }], text: ',"place":3}' }

interface StepPids {
  readonly order: string
  readonly parent: string
  readonly flaky: string
  readonly slow: string
  readonly changed: string
  readonly tool: string
}

async function expectStepsToGoOn(store: Store, pids: StepPids): Promise<void> {
  onTestFinished(() => store.close())
  await expectStepIndexes(store, pids)
  await expectNoticePositions(store)
  const repeated: string[] = []
  const attempts: number[] = []
  const reeve = await embed({
    store,
    workflows: {
      order: async (ctx) => {
        const charged = await ctx.step('charge', () => repeated.push('charge'))
        const begun = await ctx.waitForSignal('begin')
        const answers = await Promise.all([ctx.waitForSignal('go'), ctx.waitForSignal('stop')])
        return { charged, begun, answers }
      },
      parent: async (ctx) => {
        const results = []
        for (const now of [true, false]) {
          const child = await ctx.spawn({
            kind: 'workflow',
            spec: { workflow: 'child', input: { now, given: GIVEN } },
          })
          results.push((await ctx.wait(child)).result)
        }
        return results
      },
      child: async (ctx, input) => {
        const { now, given } = input as { readonly now: boolean; readonly given: typeof GIVEN }
        if (now) repeated.push('child')
        else await ctx.waitForSignal('done')
        return given
      },
      flaky: (ctx) => ctx.step('try', ({ attempt }) => attempts.push(attempt)),
      slow: (ctx) => ctx.step('try', ({ attempt }) => attempts.push(attempt)),
    },
  })
  onTestFinished(() => reeve.close())

  const acknowledged = await reeve.acknowledge({ scope: 'session:s1', consumer: 'place', positions: [3] })
  expect(acknowledged).toEqual({ acknowledged: [3], lost: [], through: 2 })
  await reeve.send({ pid: pids.order, name: 'stop', value: 2 })
  await reeve.send({ pid: pids.order, name: 'go', value: 1 })
  expect((await ended(reeve, pids.order)).outcome).toMatchObject({
    status: 'completed',
    result: { charged: GIVEN, begun: GIVEN, answers: [1, 2] },
  })

  const { processes } = await reeve.list({ filter: { parent: [pids.parent] } })
  expect(processes).toHaveLength(1)
  await reeve.send({ pid: processes[0]?.record.pid ?? '', name: 'done', value: null })
  expect((await ended(reeve, pids.parent)).outcome).toMatchObject({
    status: 'completed',
    result: [GIVEN, GIVEN],
  })

  for (const pid of [pids.flaky, pids.slow])
    expect((await ended(reeve, pid)).outcome).toMatchObject({ status: 'completed' })
  expect(attempts).toEqual([2, 2])
  expect(repeated).toEqual([])
}

async function expectStepIndexes(store: Store, pids: StepPids): Promise<void> {
  const rowOf = async (pid: string) => (await store.ask({ ask: 'process', pid }))?.record
  const payloads = async (pid: string, type: string) =>
    (await store.ask({ ask: 'events', pid, after: 0, limit: 100 }))
      .filter((event) => event.type === type)
      .map(({ payload }) => payload)

  expect(await payloads(pids.order, 'step_ended')).toMatchObject([{ stepIndex: 1, value: GIVEN }])
  expect(await payloads(pids.order, 'wait_entered')).toMatchObject(
    [2, 3, 4].map((stepIndex) => ({ stepIndex })),
  )
  expect(await payloads(pids.order, 'wait_left')).toMatchObject([{ value: null, stepIndex: 2 }])
  const order = await rowOf(pids.order)
  expect(order?.wait).toMatchObject({ name: 'go', stepIndex: 3 })
  expect(order?.moreWaits).toMatchObject([{ name: 'stop', stepIndex: 4 }])
  expect(order?.signals).toMatchObject({ place: { received: 1 } })

  expect(await payloads(pids.parent, 'child_registered')).toMatchObject([{ stepIndex: 1 }, { stepIndex: 3 }])
  expect(await payloads(pids.parent, 'wait_left')).toMatchObject([{ value: { result: GIVEN }, stepIndex: 2 }])
  expect(await payloads(pids.flaky, 'step_tried')).toMatchObject([{ stepIndex: 1, tries: 1 }])

  const report = { status: 'failed', reason: 'nondeterminism', result: { stepIndex: 1, from: 1 } }
  expect(await payloads(pids.changed, 'ended')).toMatchObject([report])
  expect((await rowOf(pids.changed))?.outcome).toMatchObject(report)

  const [left] = await payloads(pids.tool, 'wait_left')
  expect(left).toEqual({ ...Object(left), value: GIVEN })
  expect(await payloads(pids.tool, 'progress')).toEqual([GIVEN])
  expect((await rowOf(pids.tool))?.facets).toEqual({ progress: GIVEN })
}

async function expectNoticePositions(store: Store): Promise<void> {
  const scope = 'session:s1'
  const notices = await store.ask({ ask: 'notices', scope, after: 0, limit: 9 })
  expect(notices.map(({ position }) => position)).toEqual([2, 3])
  expect(await store.ask({ ask: 'inbox', scope })).toMatchObject({
    consumers: { place: { through: 2 } },
    taken: [{ position: 3, by: 'place', until: expect.any(Number) }],
  })
}
