import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { decodeEntry } from '../../src/output-log/log-format.ts'
import { keeperWithDaemon, until } from './client.ts'

const pty = { cols: 100, rows: 30 }

test('a terminal echoes, knows its size and hears of another', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  await daemon.sh('p_pty', 'stty size; read line; echo got $line; stty size; kill -9 $$', { pty })
  await until('it knows its size', () => temp.output('p_pty').text === '30 100\r\n')
  expect(await daemon.ask('resize', { pid: 'p_pty', cols: 90, rows: 20 })).toEqual({ type: 'resized' })
  expect(await daemon.write('p_pty', 'hello\r')).toEqual({ type: 'written', bytes: 6 })
  expect(await daemon.exit('p_pty')).toMatchObject({ exitCode: null, signal: 'SIGKILL', because: null })
  expect(temp.output('p_pty').text).toBe('30 100\r\nhello\r\ngot hello\r\n20 90\r\n')
  expect(await daemon.ask('resize', { pid: 'p_pty', cols: 1, rows: 2 })).toEqual({ type: 'ended' })

  const index = readFileSync(join(temp.home.output, 'p_pty', 'index'))
  const entries = [0, 16, 32].map((at) => decodeEntry(index, at))
  expect(entries).toMatchObject([
    { offset: 0, sort: 'size', value: 100 * 65_536 + 30 },
    { offset: 0, sort: 'time' },
    { offset: 8, sort: 'size', value: 90 * 65_536 + 20 },
  ])
})

test('a program without a terminal has no size, and a terminal none that makes no sense', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  await daemon.sh('p_none', 'sleep 300')
  expect(await daemon.ask('resize', { pid: 'p_none', cols: 90, rows: 20 })).toEqual({ type: 'no_pty' })
  await expect(daemon.ask('resize', { pid: 'p_none', cols: 0, rows: 20 })).rejects.toThrow('bad_ask')
})

test('all that a terminal was given before its program ended is in the log', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  await daemon.sh('p_lot', 'seq 1 200000', {
    pty,
    caps: { headBytes: 0, tailBytes: 1e7, segmentBytes: 1e6, minFreeBytes: 0 },
  })
  expect(await daemon.exit('p_lot')).toMatchObject({ exitCode: 0, outputEnd: 1_288_895 + 200_000 })
  const lines = temp.output('p_lot').text.split('\r\n')
  expect(lines.length).toBe(200_001)
  expect(lines.every((line, at) => line === String(at + 1) || (at === 200_000 && line === ''))).toBe(true)
})

test('end of input reaches a program in a terminal', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  await daemon.sh('p_eof', 'echo ready; cat; echo over', { pty })
  await until('it reads', () => temp.output('p_eof').text === 'ready\r\n')
  expect(await daemon.ask('closeInput', { pid: 'p_eof' })).toEqual({ type: 'closed' })
  expect((await daemon.exit('p_eof')).exitCode).toBe(0)
})

test('given text is the whole input of a terminal, whether or not its last line is finished', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  for (const [at, text] of ['', 'abc', 'abc\n', 'abc\r', 'one\nabc', 'abc\u0004'].entries()) {
    const pid = `p_text_${at}`
    await daemon.sh(pid, 'stty -echo; cat; echo over', { pty, stdin: { text } })
    expect((await daemon.exit(pid)).exitCode).toBe(0)
    const typed = text.replace('\u0004', '').replaceAll('\r', '\n').replaceAll('\n', '\r\n')
    expect(temp.output(pid).text.endsWith(`${typed}over\r\n`)).toBe(true)
  }
})

test('text with a line that a terminal would cut is refused, and one that just fits is not', async () => {
  const { temp, daemon } = await keeperWithDaemon()
  await using _ = temp

  const script = 'stty -echo; echo ready; wc -c'
  await daemon.sh('p_fits', script, { pty, stdin: { text: `${'x'.repeat(4095)}\n` } })
  expect((await daemon.exit('p_fits')).exitCode).toBe(0)
  expect(temp.output('p_fits').text.trim().split(/\s+/).at(-1)).toBe('4096')
  expect(
    await daemon.sh('p_cut', script, { pty, stdin: { text: `short\n${'é'.repeat(2048)}\n` } }),
  ).toMatchObject({
    state: 'failed_start',
    message: expect.stringContaining('4096 bytes'),
    remedy: expect.stringContaining('without a terminal'),
  })
})
