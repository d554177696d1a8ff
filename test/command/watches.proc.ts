import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InboxNotice, Reeve } from 'reeve'
import { expect, test } from 'vitest'
import { until } from '../keeper/client.ts'
import { codeOf, ended, printed, start, TempReeve } from './commands.ts'
import { startDaemon } from './daemon-program.ts'

const SCOPE = 'session:s1'
const IN_S1 = { owner: { session: 's1' } } as const

async function opened(temp: TempReeve, flood: object = {}): Promise<Reeve> {
  const reeve = await temp.embed({}, { flood })
  await reeve.openSession({ session: 's1' })
  return reeve
}

/** The first notices of a session, when there are so many. */
async function notices(reeve: Reeve, count: number): Promise<InboxNotice[]> {
  const found: InboxNotice[] = []
  const enough = new AbortController()
  const late = AbortSignal.any([enough.signal, AbortSignal.timeout(30_000)])
  for await (const notice of reeve.inbox({ scope: SCOPE }, { signal: late })) {
    found.push(notice)
    if (found.length === count) enough.abort()
  }
  expect(found.map(({ kind }) => kind)).toHaveLength(count)
  return found
}

/** A summary of the notices of a watch. */
function short({ kind, payload }: InboxNotice): unknown[] {
  const { offset, lines, heldBack, status } = Object(payload)
  return kind === 'completion' ? [kind, status] : [kind, offset, lines, heldBack]
}

test('a line that comes in three pieces is one match, and the last one counts without a newline', async () => {
  await using temp = new TempReeve()
  const reeve = await opened(temp, { everyMs: 0 })
  const go = join(temp.folder, 'go')
  const wait = `while [ ! -e ${go} ]; do sleep 0.02; done`
  const run = `echo first; printf 'ER'; ${wait}; printf 'RO'; sleep 0.1; printf 'R x\\n'; printf 'last ERROR'`
  const { pid } = await start(reeve, { run, watch: [{ text: 'ERROR' }] }, IN_S1)
  await printed(reeve, pid, 'ER')
  writeFileSync(go, '')
  await ended(reeve, pid)
  const told = await notices(reeve, 3)
  expect(told.map(short)).toEqual([
    ['watch_match', 6, ['ERROR x'], 0],
    ['watch_match', 14, ['last ERROR'], 0],
    ['completion', 'completed'],
  ])
  expect(told[0]?.text).toMatch(/printed what the watch ERROR looks for, at .*\nERROR x$/)
  expect(told[2]?.text).toContain('The end of its output:\nfirst\nERROR x\nlast ERROR')
})

test('the notices of a watch are limited, the rest is counted, and a flood disables the watch', async () => {
  await using temp = new TempReeve()
  const reeve = await opened(temp, { everyMs: 3_600_000, strikes: 1 })
  const go = join(temp.folder, 'go')
  const run = `echo ERROR 1; while [ ! -e ${go} ]; do sleep 0.02; done; echo ERROR 2; echo ERROR 3; echo fine`
  const watch = [{ text: 'ERROR' }, { pattern: '^fi.e$', name: 'fine' }]
  const { pid } = await start(reeve, { run, watch, notify: 'none' }, IN_S1)
  await notices(reeve, 1)
  writeFileSync(go, '')
  await ended(reeve, pid)
  const told = await notices(reeve, 4)
  // For every notify setting, the end reports the matches that the watch did not.
  expect(told.map(({ kind }) => kind).sort()).toEqual([
    'completion',
    'watch_disabled',
    'watch_match',
    'watch_match',
  ])
  expect((await reeve.show({ pid })).watches).toMatchObject({
    ERROR: { disabled: true },
    fine: { disabled: false },
  })
})

test('matches that are held back when a command ends are counted by its completion, also with notify none', async () => {
  await using temp = new TempReeve()
  const reeve = await opened(temp, { everyMs: 3_600_000 })
  const go = join(temp.folder, 'go')
  const wait = `while [ ! -e ${go} ]; do sleep 0.02; done`
  const run = `echo ERROR 1; ${wait}; echo ERROR 2; echo ERROR 3; echo ERROR 4`
  const { pid } = await start(reeve, { run, watch: [{ text: 'ERROR' }], notify: 'none' }, IN_S1)
  await notices(reeve, 1)
  writeFileSync(go, '')
  await ended(reeve, pid)
  const told = await notices(reeve, 2)
  expect(told.map(short)).toEqual([
    ['watch_match', 0, ['ERROR 1'], 0],
    ['completion', 'completed'],
  ])
  expect(told[1]?.payload).toMatchObject({ heldBack: { ERROR: 3 } })
  expect(told[1]?.text).toContain('the watch ERROR held back 3 lines')
})

test('lines that were printed without a daemon are reported once by the next one', async () => {
  await using temp = new TempReeve()
  const go = join(temp.folder, 'go')
  const daemon = await startDaemon(temp)
  await daemon.call('openSession', { session: 's1' })
  const run = `echo ERROR 1; while [ ! -e ${go} ]; do sleep 0.02; done; echo ERROR 2; exec sleep 1000`
  const { record } = await daemon.call('spawn', {
    kind: 'command',
    spec: { run, watch: [{ text: 'ERROR' }] },
    ...IN_S1,
  })
  await daemon.call('notices', { scope: SCOPE, waitMs: 20_000 })
  await daemon.kill()
  writeFileSync(go, '')
  const reeve = await temp.embed({}, { flood: { everyMs: 0 } })
  await printed(reeve, record.pid, 'ERROR 2')
  expect((await notices(reeve, 2)).map(short)).toEqual([
    ['watch_match', 0, ['ERROR 1'], 0],
    ['watch_match', 8, ['ERROR 2'], 0],
  ])
})

test('a watch reports a gap', async () => {
  await using temp = new TempReeve()
  const small = { output: { headBytes: 10, tailBytes: 2_000 } }
  const daemon = await startDaemon(temp, small)
  const go = join(temp.folder, 'go')
  await daemon.call('openSession', { session: 's1' })
  const run = `while [ ! -e ${go} ]; do sleep 0.02; done; seq 1 20000; echo ERROR at last`
  const { record } = await daemon.call('spawn', {
    kind: 'command',
    spec: { run, watch: [{ text: 'ERROR' }] },
    lifetime: 'detached',
    ...IN_S1,
  })
  await daemon.kill()
  writeFileSync(go, '')
  await until('it has ended', () => temp.programs().length === 0)
  const reeve = await temp.embed(small, { flood: { everyMs: 0 } })
  await ended(reeve, record.pid)
  const told = await notices(reeve, 3)
  expect(told.map(({ kind }) => kind)).toEqual(['watch_match', 'watch_match', 'completion'])
  expect(told[0]?.payload).toMatchObject({ lines: [], missed: { to: expect.any(Number) } })
  expect(told[0]?.text).toContain('was dropped before it could be looked at')
  expect(told[1]?.payload).toMatchObject({ lines: ['ERROR at last'], missed: null })
})

test('a temporary disk failure suppresses no match of a watch', async () => {
  await using temp = new TempReeve()
  const reeve = await opened(temp, { everyMs: 0 })
  const step = (name: string) => join(temp.folder, name)
  const wait = (name: string) => `while [ ! -e ${step(name)} ]; do echo noise; sleep 0.05; done`
  const run = `echo ERROR 1; ${wait('b')}; echo ERROR 2; ${wait('c')}; echo ERROR 3`
  const { pid } = await start(reeve, { run, watch: [{ text: 'ERROR' }] }, IN_S1)
  await notices(reeve, 1)
  // Neither how far it has looked can be noted,
  const cursors = join(temp.keeperHome.cursors, readdirSync(temp.keeperHome.cursors)[0] ?? '')
  rmSync(cursors, { recursive: true })
  writeFileSync(cursors, '')
  await until('it could not be noted', () => temp.troubles.some((text) => text.startsWith('noting how far')))
  writeFileSync(step('b'), '')
  await notices(reeve, 2)
  // nor can the log be read.
  const log = join(temp.keeperHome.output, pid)
  const segment = join(log, readdirSync(log).find((name) => /^\d+$/.test(name)) ?? '')
  renameSync(segment, step('away'))
  mkdirSync(segment)
  await until('it could not be read', () => temp.troubles.some((text) => text.startsWith('watching')))
  rmdirSync(segment)
  renameSync(step('away'), segment)
  writeFileSync(step('c'), '')
  await ended(reeve, pid)
  const told = await notices(reeve, 4)
  expect(told.map(({ payload }) => Object(payload).lines)).toEqual([
    ['ERROR 1'],
    ['ERROR 2'],
    ['ERROR 3'],
    undefined,
  ])
  expect(temp.troubles.filter((text) => text.startsWith('noting how far'))).toHaveLength(1)
})

test('output that could not be scanned is reported with the end, for every notify setting', async () => {
  await using temp = new TempReeve()
  const reeve = await opened(temp)
  const go = join(temp.folder, 'go')
  const run = `echo ERROR 1; while [ ! -e ${go} ]; do sleep 0.02; done; echo ERROR 2`
  const { pid } = await start(reeve, { run, watch: [{ text: 'ERROR' }], notify: 'none' }, IN_S1)
  await notices(reeve, 1)
  const log = join(temp.keeperHome.output, pid)
  const segment = join(log, readdirSync(log).find((name) => /^\d+$/.test(name)) ?? '')
  renameSync(segment, join(temp.folder, 'away'))
  mkdirSync(segment)
  writeFileSync(go, '')
  const { outcome } = await ended(reeve, pid)
  expect(outcome).toMatchObject({ exitCode: 0, result: { missed: { ERROR: { from: 8, to: 16 } } } })
  rmdirSync(segment)
  renameSync(join(temp.folder, 'away'), segment)
  const told = await notices(reeve, 2)
  expect(told[1]?.text).toContain('The watch ERROR missed output between byte 8 and byte 16.')
})

test('no more than 20 lines and 2,000 characters are shown, and the rest is counted', async () => {
  await using temp = new TempReeve()
  const reeve = await opened(temp)
  const { pid } = await start(reeve, { run: 'seq -f "E%g" 1 50', watch: [{ text: 'E' }] }, IN_S1)
  await ended(reeve, pid)
  const [match] = await notices(reeve, 2)
  expect(Object(match?.payload).lines).toHaveLength(20)
  const wide = await start(
    reeve,
    { run: 'head -c 5000 /dev/zero | tr "\\0" E', watch: [{ text: 'E' }] },
    IN_S1,
  )
  await ended(reeve, wide.pid)
  const long = (await notices(reeve, 4))[2]
  expect(Object(long?.payload).lines.join('')).toHaveLength(2_000)
})

test('a watch that cannot be is refused, and nothing is started', async () => {
  await using temp = new TempReeve()
  const reeve = await opened(temp)
  for (const watch of [
    [{ pattern: '(' }],
    [{}],
    [{ text: 'a', pattern: 'b' }],
    [{ text: 'a' }, { text: 'a' }],
    [{ text: `${'x'.repeat(100)}a` }, { text: `${'x'.repeat(100)}b` }],
    [{ text: 'a\0b' }],
    [{ pattern: 'a\0b' }],
    [{ text: 'a', name: 'a\0b' }],
    [],
  ])
    expect(await codeOf(start(reeve, { run: 'true', watch: watch as [] }))).toBe('invalid_input')
  expect(await codeOf(start(reeve, { run: 'true', ready: { log: '[' } }))).toBe('invalid_input')
  expect((await reeve.list({ filter: { status: 'any' } })).processes).toEqual([])
})

test('the notice of a failed start has its reason and a remedy', async () => {
  await using temp = new TempReeve()
  const reeve = await opened(temp)
  await start(reeve, { argv: ['no-such-program'] }, IN_S1)
  const [told] = await notices(reeve, 1)
  expect(told?.text).toMatch(/failed \(reason failed_start.*There is no program no-such-program in PATH/s)
})

test('notify decides about the notice of an end: always, on failure, or never', async () => {
  await using temp = new TempReeve()
  const reeve = await opened(temp)
  for (const notify of ['complete', 'failure', 'none'] as const)
    for (const run of ['exit 0', 'exit 3']) {
      const { pid } = await start(reeve, { run, notify }, { ...IN_S1, name: `${notify}${run.at(-1)}` })
      await ended(reeve, pid)
    }
  const { notices: told } = await reeve.notices({ scope: SCOPE })
  expect(told.map(({ payload }) => Object(payload).name)).toEqual(['complete0', 'complete3', 'failure3'])
})

test('a poll leaves the end out of the same turn of the same caller, and reading to the end out of all', async () => {
  await using temp = new TempReeve()
  const reeve = await opened(temp)
  const agent = reeve.as('session:s1')
  const { pid } = await start(reeve, 'echo done', IN_S1)
  await ended(reeve, pid)
  const shown = async (turn?: string) => {
    const { notices: told } = await agent.notices({ scope: SCOPE, ...(turn === undefined ? {} : { turn }) })
    return told.length
  }
  await reeve.poll({ pid, turn: 't1' })
  expect(await shown('t1')).toBe(1)
  await agent.poll({ pid, turn: 't1' })
  expect([await shown('t1'), await shown('t2'), await shown()]).toEqual([0, 1, 1])
  await reeve.log({ pid })
  expect(await shown()).toBe(1)
  await agent.log({ pid })
  expect(await shown()).toBe(0)
})
