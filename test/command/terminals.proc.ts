import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { OutputOf, Reeve } from 'reeve'
import { expect, test } from 'vitest'
import { until } from '../keeper/client.ts'
import { testIf } from '../reporting/test-if.ts'
import { codeOf, ended, runs, start, TempReeve, textOf } from './commands.ts'
import { startDaemon } from './daemon-program.ts'

const FULL_SCREEN = [
  process.execPath,
  fileURLToPath(new URL('../fixtures/full-screen.ts', import.meta.url)),
] as [string, string]

type Screen = OutputOf<'screen'>

/** The screen, once it is as it should be. */
function shows(
  reeve: Pick<Reeve, 'screen'>,
  pid: string,
  fits: (screen: Screen) => boolean,
): Promise<Screen> {
  const seen: { last?: Screen } = {}
  return until('the screen fits', async () => {
    seen.last = await reeve.screen({ pid })
    return fits(seen.last) ? seen.last : null
  }).catch((error: unknown) => {
    throw new Error(`The screen shows ${JSON.stringify(seen.last)}`, { cause: error })
  })
}

const showing = (reeve: Pick<Reeve, 'screen'>, pid: string, text: string) =>
  shows(reeve, pid, ({ lines }) => lines.some((line) => line.includes(text)))

const has = (program: string) => spawnSync('which', [program]).status === 0

test('a full-screen program is driven by typed keys and read as a screen', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, { argv: FULL_SCREEN, pty: { cols: 80, rows: 24 } })
  const first = await showing(reeve, pid, 'size 80x24')
  expect([first.cols, first.rows, first.lines.length, first.alternate]).toEqual([80, 24, 24, true])
  expect([first.lines[0], first.lines[23]]).toEqual(['full screen', `${' '.repeat(70)}size 80x24`])
  expect(await reeve.write({ pid, text: 'é' })).toMatchObject({ type: 'written', bytes: 2 })
  expect(await reeve.write({ pid, text: '\x1b[A' })).toMatchObject({ type: 'written', bytes: 3 })
  expect(await reeve.submit({ pid, text: 'x' })).toMatchObject({ type: 'written', bytes: 2 })
  const typed = await showing(reeve, pid, 'typed: é up x enter')
  expect(typed.cursor).toEqual({ row: 2, column: 19 })
  expect(await reeve.resize({ pid, cols: 100, rows: 40 })).toEqual({ type: 'resized' })
  const larger = await showing(reeve, pid, 'size 100x40')
  expect([larger.cols, larger.rows, larger.lines.length]).toEqual([100, 40, 40])
  expect(larger.lines[2]).toBe('typed: é up x enter')
  await reeve.write({ pid, text: 'q' })
  expect((await ended(reeve, pid)).outcome).toMatchObject({ status: 'failed', exitCode: 4, reason: null })
  const last = await reeve.screen({ pid })
  expect([last.alternate, last.lines.slice(0, 2)]).toEqual([false, ['before', 'after']])
  expect(await codeOf(reeve.write({ pid, text: 'x' }))).toBe('already_ended')
  expect(await codeOf(reeve.resize({ pid, cols: 1, rows: 1 }))).toBe('already_ended')
})

test('a terminal outlives kill -9 of its daemon: the screen, the keys, the size and the exit code', async () => {
  await using temp = new TempReeve()
  const daemon = await startDaemon(temp)
  const { record } = await daemon.call('spawn', {
    kind: 'command',
    spec: { argv: FULL_SCREEN, pty: { cols: 80, rows: 24 } },
  })
  const { pid } = record
  const there = { screen: (input: { pid: string }) => daemon.call('screen', input) } as Pick<Reeve, 'screen'>
  await showing(there, pid, 'size 80x24')
  await daemon.call('resize', { pid, cols: 90, rows: 20 })
  await daemon.call('write', { pid, text: 'ab', seq: 1 })
  const before = await shows(
    there,
    pid,
    ({ lines }) => lines[2] === 'typed: a b' && lines[19]?.endsWith('size 90x20') === true,
  )
  await daemon.kill()

  const reeve = await temp.embed()
  expect((await reeve.status()).boot.adopted).toEqual([pid])
  expect(await reeve.screen({ pid })).toEqual(before)
  expect(await reeve.write({ pid, text: 'ab', seq: 1 })).toMatchObject({ type: 'replayed', bytes: 2 })
  expect(await reeve.write({ pid, text: 'c', seq: 2 })).toMatchObject({ type: 'written', bytes: 1 })
  await showing(reeve, pid, 'typed: a b c')
  await reeve.resize({ pid, cols: 70, rows: 10 })
  await showing(reeve, pid, 'size 70x10')
  await reeve.write({ pid, text: 'q' })
  expect((await ended(reeve, pid)).outcome).toMatchObject({ exitCode: 4 })
  const { events } = await reeve.events({ pid })
  expect(events.filter(({ type }) => type === 'ended')).toHaveLength(1)
})

test('a command has a terminal of 120 × 30, or of the size it asked for, as its input and output', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const looks = 'stty size; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo all; echo err >&2'
  expect((await runs(reeve, { run: looks, pty: true })).text).toBe('30 120\r\nall\r\nerr\r\n')
  expect((await runs(reeve, { run: looks, pty: { cols: 40 } })).text).toMatch(/^30 40\r\n/)
})

test('output of a terminal program right before its end is not lost, a hundred times', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const whole = Array.from({ length: 300 }, (_, index) => `${index + 1}\r\n`).join('')
  const wrong: string[] = []
  const next = Array.from({ length: 100 }).keys()
  const some = async () => {
    for (const _ of next) {
      const { outcome, text } = await runs(reeve, { run: 'seq 1 300; exit 3', pty: true })
      if (outcome?.exitCode !== 3 || text !== whole) wrong.push(`${outcome?.exitCode} ${text.length}`)
    }
  }
  await Promise.all(Array.from({ length: 8 }, some))
  expect(wrong).toEqual([])
})

test('Ctrl-C interrupts and Ctrl-D ends the input, as in any terminal', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid: one } = await start(reeve, { argv: ['cat'], pty: true })
  await reeve.submit({ pid: one, text: 'hello' })
  // The terminal says it first, and then the program, which is there by then.
  await until('it answers', async () => (await textOf(reeve, one)).split('hello').length > 2)
  await reeve.write({ pid: one, text: '\x03' })
  expect((await ended(reeve, one)).outcome).toMatchObject({
    status: 'failed',
    signal: 'SIGINT',
    reason: null,
  })
  const { pid: two } = await start(reeve, { argv: ['cat'], pty: true })
  await reeve.submit({ pid: two, text: 'x' })
  expect(await reeve.closeInput({ pid: two })).toEqual({ type: 'closed' })
  expect((await ended(reeve, two)).outcome).toMatchObject({
    status: 'completed',
    exitCode: 0,
    signal: null,
    reason: null,
  })
  expect(await textOf(reeve, two)).toContain('x\r\nx\r\n')
})

test('a program that closes its terminal before it ends is not hung up on', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const run = 'exec 0<&- 1>&- 2>&-; sleep 0.3; exit 5'
  const { outcome } = await runs(reeve, { run, pty: true })
  expect(outcome).toMatchObject({ exitCode: 5, signal: null })
})

test('a killed terminal program leaves no member of its tree', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, {
    run: "trap '' TERM HUP; sh -c 'trap \"\" TERM HUP; echo inner; while :; do sleep 0.1; done' & while :; do sleep 0.1; done",
    pty: true,
  })
  await reeve.wait({ pid, until: { text: 'inner' } })
  const { type: answer, record } = await reeve.kill({ pid, graceMs: 200 })
  expect([answer, record.outcome?.signal]).toEqual(['ended', 'SIGKILL'])
  expect(temp.programs()).toEqual([])
})

test('two are attached at once: both see all of it, either may type, and one that lets go changes nothing', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, { run: 'stty -echo; echo ready; cat', pty: true })
  await reeve.wait({ pid, until: { text: 'ready' } })
  const watch = async () => {
    const attached = await reeve.attach({ pid })
    const seen = { text: '', over: false }
    const reading = (async () => {
      for await (const { bytes } of attached) seen.text += Buffer.from(bytes).toString()
      seen.over = true
    })()
    return { attached, seen, reading }
  }
  const one = await watch()
  const two = await watch()
  await until(
    'both see what was before',
    () => one.seen.text.includes('ready') && two.seen.text.includes('ready'),
  )
  expect(await one.attached.write('from one\r')).toEqual({ bytes: 9 })
  await until('both see it', () => one.seen.text.includes('from one') && two.seen.text.includes('from one'))
  one.attached.detach()
  await one.reading
  expect((await reeve.show({ pid })).status).toBe('running')
  await two.attached.write(Buffer.from('from two\r'))
  await until('the other still sees', () => two.seen.text.includes('from two'))
  expect(one.seen.text).not.toContain('from two')
  await two.attached.resize({ cols: 33, rows: 11 })
  expect(await reeve.screen({ pid })).toMatchObject({ cols: 33, rows: 11 })
  await reeve.closeInput({ pid })
  await two.reading
  expect((await ended(reeve, pid)).outcome).toMatchObject({ exitCode: 0 })
  expect([two.seen.over, two.seen.text]).toEqual([true, await textOf(reeve, pid)])
})

test('screen and resize are for terminals', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, 'sleep 1000')
  expect(await codeOf(reeve.screen({ pid }))).toBe('no_terminal')
  expect(await codeOf(reeve.resize({ pid, cols: 10, rows: 10 }))).toBe('no_terminal')
  const { pid: over } = await runs(reeve, 'true')
  expect(await codeOf(reeve.screen({ pid: over }))).toBe('no_terminal')
})

testIf(has('vi'), 'needs vi')('vi edits and saves a file', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const file = join(temp.folder, 'edited.txt')
  writeFileSync(file, 'old line\n')
  const { pid } = await start(reeve, { argv: ['vi', file], pty: { cols: 60, rows: 12 }, env: { EXINIT: '' } })
  const opened = await showing(reeve, pid, 'old line')
  expect(opened.alternate).toBe(true)
  await reeve.write({ pid, text: 'Onew line\x1b' })
  await shows(reeve, pid, ({ lines }) => lines[0] === 'new line' && lines[1] === 'old line')
  await reeve.submit({ pid, text: ':wq' })
  expect((await ended(reeve, pid)).outcome).toMatchObject({ status: 'completed', exitCode: 0 })
  expect(readFileSync(file, 'utf8')).toBe('new line\nold line\n')
})

testIf(has('less'), 'needs less')('less turns pages', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, {
    run: 'seq 1 500 | less',
    pty: { cols: 40, rows: 10 },
    env: { LESS: '' },
  })
  await shows(reeve, pid, ({ lines }) => lines[0] === '1' && lines[8] === '9')
  await reeve.write({ pid, text: ' ' })
  await shows(reeve, pid, ({ lines }) => lines[0] === '10')
  await reeve.write({ pid, text: 'G' })
  await showing(reeve, pid, '500')
  await reeve.write({ pid, text: 'q' })
  expect((await ended(reeve, pid)).outcome).toMatchObject({ status: 'completed' })
})

testIf(has('top'), 'needs top')('top shows itself', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, { argv: ['top'], pty: { cols: 100, rows: 20 } })
  await shows(reeve, pid, ({ lines }) => lines.some((line) => /PID +USER/.test(line)))
  await reeve.write({ pid, text: 'q' })
  expect((await ended(reeve, pid)).outcome).toMatchObject({ status: 'completed' })
})

testIf(has('python3'), 'needs python3')('python3 -i is talked to', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, { argv: ['python3', '-i', '-q'], pty: true })
  await showing(reeve, pid, '>>>')
  await reeve.submit({ pid, text: 'print(6 * 7, input())' })
  await reeve.submit({ pid, text: 'typed' })
  await shows(reeve, pid, ({ lines }) => lines.includes('42 typed'))
  await reeve.submit({ pid, text: 'exit(5)' })
  expect((await ended(reeve, pid)).outcome).toMatchObject({ status: 'failed', exitCode: 5 })
})
