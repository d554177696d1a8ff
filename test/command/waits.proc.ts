import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { codeOf, ended, start, TempReeve } from './commands.ts'

test('a wait for a line answers with it, printed before or after, also when it came in pieces', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const go = join(temp.folder, 'go')
  const { pid } = await start(
    reeve,
    `echo listening on 8080; while [ ! -e ${go} ]; do sleep 0.02; done; printf 're'; sleep 0.1; printf 'ady\\nrest\\n'; sleep 1000`,
  )
  const first = await reeve.wait({ pid, until: { pattern: 'on ([0-9]+)$' } })
  expect(first).toMatchObject({ type: 'matched', line: { offset: 0, text: 'listening on 8080' } })
  const notYet = await reeve.wait({ pid, until: { text: 'ready' }, timeoutMs: 3_000 })
  expect(notYet).toMatchObject({ type: 'timed_out', scannedTo: 18 })
  const ready = reeve.wait({ pid, until: { text: 'ready', from: 18 } })
  writeFileSync(go, '')
  expect(await ready).toMatchObject({ type: 'matched', line: { offset: 18, text: 'ready' } })
  expect(await reeve.wait({ pid, until: { text: 'listening' } })).toMatchObject({ type: 'matched' })
  expect(await reeve.wait({ pid, until: { text: 'nowhere' }, timeoutMs: 50 })).toMatchObject({
    type: 'timed_out',
    record: { pid, status: 'running' },
  })
})

test('a wait for a line ends with the process, whose last line counts without a newline', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, 'echo some; printf last; exit 2')
  expect(await reeve.wait({ pid, until: { text: 'other' } })).toMatchObject({
    type: 'ended',
    record: { outcome: { exitCode: 2 } },
  })
  expect(await reeve.wait({ pid, until: { pattern: '^last$' } })).toMatchObject({
    type: 'matched',
    line: { offset: 5, text: 'last' },
  })
})

test('a wait that times out reports the limit it was cut to; the process lives on', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed({}, { waits: { defaultMs: 30, mostMs: 60 } })
  const { pid } = await start(reeve, { argv: ['sleep', '1000'] })
  expect(await reeve.wait({ pid })).toEqual({ type: 'timed_out', record: await reeve.show({ pid }) })
  expect(await reeve.wait({ pid, timeoutMs: 10 })).not.toHaveProperty('clampedToMs')
  expect(await reeve.wait({ pid, timeoutMs: 99_999 })).toMatchObject({ type: 'timed_out', clampedToMs: 60 })
  expect(await reeve.wait({ pid, timeoutMs: 99_999, until: { text: 'x' } })).toMatchObject({
    type: 'timed_out',
    clampedToMs: 60,
  })
  expect((await reeve.show({ pid })).status).toBe('running')
})

test('a wait that is called off answers at once, and the process lives on', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, { argv: ['sleep', '1000'] })
  for (const until of [{}, { until: { text: 'x' } }]) {
    const caller = new AbortController()
    const waiting = reeve.wait({ pid, ...until }, { signal: caller.signal })
    caller.abort()
    expect(await waiting).toEqual({ type: 'interrupted' })
    expect(await reeve.wait({ pid, ...until }, { signal: AbortSignal.abort() })).toEqual({
      type: 'interrupted',
    })
  }
  expect((await reeve.show({ pid })).status).toBe('running')
  const both = new AbortController()
  const following = reeve.followOutput({ pid }, { signal: both.signal })[Symbol.asyncIterator]().next()
  both.abort()
  expect((await following).done).toBe(true)
})

test('many wait for one end, and all of them hear the same', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, { argv: ['cat'], stdin: 'pipe' })
  const waiting = Array.from({ length: 20 }, () => ended(reeve, pid))
  await reeve.closeInput({ pid })
  const outcomes = new Set((await Promise.all(waiting)).map(({ outcome }) => JSON.stringify(outcome)))
  expect(outcomes.size).toBe(1)
})

test('a pattern that cannot be used is refused', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const { pid } = await start(reeve, { argv: ['sleep', '1000'] })
  expect(await codeOf(reeve.wait({ pid, until: { pattern: '(' } }))).toBe('invalid_input')
  expect(await codeOf(reeve.search({ pid, pattern: '(' }))).toBe('invalid_input')
  expect(await codeOf(reeve.wait({ pid, until: {} } as never))).toBe('invalid_input')
  expect(await codeOf(reeve.wait({ pid, until: { text: 'a', pattern: 'b' } }))).toBe('invalid_input')
})

test('a wait from where the log ended at a write hears the next prompt, and not the one before', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const run = 'while printf "> " && read -r line; do echo "$line is done"; done'
  const { pid } = await start(reeve, { run, stdin: 'pipe' })
  const prompt = { pattern: '^> $' }
  expect(await reeve.wait({ pid, until: prompt })).toMatchObject({ type: 'matched', line: { offset: 0 } })
  const { end: first } = await reeve.submit({ pid, text: 'one' })
  expect(first).toBe(2)
  const next = await reeve.wait({ pid, until: { ...prompt, from: first } })
  expect(next).toMatchObject({ type: 'matched', line: { offset: 14, text: '> ' }, truncated: [] })
  const { end: second } = await reeve.write({ pid, text: 'two\n' })
  expect(second).toBe(16)
  await reeve.wait({ pid, until: { ...prompt, from: second } })
  expect((await reeve.log({ pid })).lines.map(({ text }) => text)).toEqual([
    '> one is done',
    '> two is done',
    '> ',
  ])
  expect(await reeve.wait({ pid, until: { text: 'one is', from: second }, timeoutMs: 50 })).toMatchObject({
    type: 'timed_out',
  })
  expect(await codeOf(reeve.wait({ pid, until: { text: 'one', from: -1 } }))).toBe('invalid_input')
})

test('a wait for a line tells which part of the output it could not look at', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed({ output: { headBytes: 1_000, tailBytes: 4_000 } })
  const { pid } = await start(reeve, 'seq 1 20000; echo behind; exec sleep 1000')
  const gap = async () => (await reeve.log({ pid })).truncated
  await reeve.wait({ pid, until: { text: 'behind' } })
  const truncated = await gap()
  expect(truncated).toEqual([{ from: 1_000, to: expect.any(Number) }])
  const missed = await reeve.wait({ pid, until: { pattern: '^9999$' }, timeoutMs: 3_000 })
  expect(missed).toMatchObject({ type: 'timed_out', truncated })
  expect(await reeve.wait({ pid, until: { text: 'behind' } })).toMatchObject({ type: 'matched', truncated })
  await reeve.kill({ pid })
  expect(await reeve.wait({ pid, until: { pattern: '^9999$' } })).toMatchObject({ type: 'ended', truncated })
  expect(await reeve.wait({ pid })).not.toHaveProperty('truncated')
})
