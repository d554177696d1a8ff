import { expect, test } from 'vitest'
import { bytesOf, codeOf, ended, printed, runs, start, TempReeve, textOf } from './commands.ts'

test('given text is the whole input', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const text = 'two\nlines, é✓ and no newline'
  expect((await runs(reeve, { argv: ['cat'], stdin: { text } })).text).toBe(text)
  expect((await runs(reeve, { argv: ['cat'], stdin: { text: '' } })).text).toBe('')
  const large = 'x'.repeat(1_000_000)
  expect((await runs(reeve, { argv: ['wc', '-c'], stdin: { text: large } })).text.trim()).toBe('1000000')
  // A program that does not read all of its input ends all the same.
  expect(await runs(reeve, { argv: ['head', '-c', '3'], stdin: { text: large } })).toMatchObject({
    outcome: { status: 'completed' },
    text: 'xxx',
  })
  expect(temp.troubles).toEqual([])
})

test('a pipe takes text, bytes and lines, reports the bytes, and ends when it is closed', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, { argv: ['cat'], stdin: 'pipe' })
  expect(await reeve.write({ pid, text: 'abc' })).toMatchObject({ type: 'written', bytes: 3 })
  expect(await reeve.write({ pid, text: 'é' })).toMatchObject({ type: 'written', bytes: 2 })
  expect(await reeve.submit({ pid, text: 'line' })).toMatchObject({ type: 'written', bytes: 5 })
  expect(await reeve.write({ pid, text: Uint8Array.of(0, 255, 10) })).toMatchObject({
    type: 'written',
    bytes: 3,
  })
  expect(await reeve.write({ pid, text: '' })).toMatchObject({ type: 'written', bytes: 0 })
  expect(await reeve.closeInput({ pid })).toEqual({ type: 'closed' })
  expect((await ended(reeve, pid)).outcome).toMatchObject({ status: 'completed', exitCode: 0 })
  expect(await bytesOf(reeve, pid)).toEqual(
    Buffer.concat([Buffer.from('abcéline\n'), Buffer.from([0, 255, 10])]),
  )
})

test('a sequence number that was written before types nothing again', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, { argv: ['cat'], stdin: 'pipe' })
  expect(await reeve.write({ pid, text: 'a', seq: 1 })).toMatchObject({ type: 'written', bytes: 1 })
  expect(await reeve.write({ pid, text: 'a', seq: 1 })).toMatchObject({ type: 'replayed', bytes: 1 })
  expect(await reeve.submit({ pid, text: 'bc', seq: 2 })).toMatchObject({ type: 'written', bytes: 3 })
  expect(await reeve.submit({ pid, text: 'bc', seq: 2 })).toMatchObject({ type: 'replayed', bytes: 3 })
  expect(await reeve.write({ pid, text: 'd' })).toMatchObject({ type: 'written', bytes: 1 })
  await reeve.closeInput({ pid })
  await ended(reeve, pid)
  expect(await textOf(reeve, pid)).toBe('abc\nd')
})

test('a write without an input, or after its end, is refused with the reason', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid: without } = await start(reeve, 'sleep 1000')
  expect(await codeOf(reeve.write({ pid: without, text: 'x' }))).toBe('no_input')
  expect(await codeOf(reeve.submit({ pid: without, text: 'x' }))).toBe('no_input')
  expect(await codeOf(reeve.closeInput({ pid: without }))).toBe('no_input')
  const { pid: closed } = await start(reeve, { run: 'cat; sleep 1000', stdin: 'pipe' })
  await reeve.closeInput({ pid: closed })
  expect(await codeOf(reeve.write({ pid: closed, text: 'x' }))).toBe('input_closed')
  await reeve.kill({ pid: closed })
  expect(await codeOf(reeve.write({ pid: closed, text: 'x' }))).toBe('already_ended')
  expect(await codeOf(reeve.submit({ pid: closed, text: 'x' }))).toBe('already_ended')
  expect(await codeOf(reeve.closeInput({ pid: closed }))).toBe('already_ended')
})

test('a program that has closed its own input is answered for, and lives on', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, { run: 'exec 0<&-; echo shut; sleep 1000', stdin: 'pipe' })
  await printed(reeve, pid, 'shut')
  let code = 'accepted'
  for (let times = 0; times < 50 && code === 'accepted'; times++)
    code = await codeOf(reeve.write({ pid, text: 'x'.repeat(1000) }))
  expect(code).toBe('input_closed')
  expect((await reeve.show({ pid })).status).toBe('running')
})

test('a program that does not read gets bounded input, and loses none of it', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, {
    run: 'trap "go=1" USR1; go=; echo waits; while [ -z "$go" ]; do sleep 0.02; done; wc -c',
    stdin: 'pipe',
  })
  await printed(reeve, pid, 'waits')
  const text = 'x'.repeat(512 * 1024)
  let taken = 0
  const write = async () => {
    taken += (await reeve.write({ pid, text })).bytes
  }
  let code = 'accepted'
  for (let times = 0; times < 64 && code === 'accepted'; times++) code = await codeOf(write())
  expect(code).toBe('input_full')
  await reeve.signal({ pid, signal: 'SIGUSR1' })
  await reeve.closeInput({ pid })
  await ended(reeve, pid)
  expect((await textOf(reeve, pid)).split(/\s+/)).toEqual(['waits', String(taken), ''])
})

test('raw bytes have the bound that text has, also through an attachment, and nothing is typed of more', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, { argv: ['cat'], stdin: 'pipe' })
  const tooMuch = new Uint8Array(1024 * 1024 + 1)
  expect(await codeOf(reeve.write({ pid, text: tooMuch }))).toBe('invalid_input')
  const attached = await reeve.attach({ pid })
  expect(await codeOf(attached.write(tooMuch))).toBe('invalid_input')
  expect(await codeOf(attached.resize({ cols: 0, rows: 1 }))).toBe('invalid_input')
  attached.detach()
  expect((await reeve.write({ pid, text: tooMuch.subarray(1) })).bytes).toBe(1024 * 1024)
  await reeve.closeInput({ pid })
  expect((await ended(reeve, pid)).outcome?.result).toMatchObject({ outputBytes: 1024 * 1024 })
})
