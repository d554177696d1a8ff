import { describe, expect, test } from 'vitest'
import { Household } from '../command/household.ts'
import { call, ERAS, STRUCTURED, textOf, WAYS } from './connected.ts'

const EPOCH_MS = /\b1[6-9]\d{11}\b/

for (const [way, connect] of Object.entries(WAYS)) {
  for (const era of ERAS) {
    describe(`over ${way} in the ${era} era`, () => {
      test('an answer is text alone, unless the call or the connection asks for structured content', async () => {
        await using household = new Household()
        const reeve = await household.open()
        const client = await connect(reeve, { era })
        const given = { name: 'process_start', arguments: { run: 'echo hello' } }
        const plain = await client.callTool(given)
        expect(plain.structuredContent).toBeUndefined()
        expect(plain.content).toHaveLength(1)
        const asked = await client.callTool({ ...given, _meta: STRUCTURED })
        expect(asked.structuredContent).toMatchObject({ finished: true, output: 'hello\n' })
        const always = await connect(reeve, { era, structured: true })
        expect((await always.callTool(given)).structuredContent).toMatchObject({ finished: true })
      })

      test('the text has all that a model needs to go on', async () => {
        await using household = new Household()
        const client = await connect(await household.open(), { era })
        const ended = await textOf(client, 'process_start', { run: 'echo hello; exit 7' })
        expect(ended).toMatch(/^p_\w+ failed \(exit code 7\) after .* m?s: echo hello; exit 7\nhello$/)
        const started = await textOf(client, 'process_start', { run: 'echo up; exec sleep 60', waitMs: 300 })
        expect(started).toMatch(/^p_\w+ has been running for .*\nup\n\[read to 3\]\n.*Next: process_wait/s)
        const pid = /^p_\w+/.exec(started)?.[0] ?? ''
        const texts = [
          await textOf(client, 'process_poll', { pid }),
          await textOf(client, 'process_wait', { pid, until: { text: 'down', from: 3 }, timeoutMs: 50 }),
          await textOf(client, 'process_list', { status: 'any' }),
          await textOf(client, 'process_kill', { pid }),
          await textOf(client, 'inbox'),
        ]
        for (const text of [started, ...texts]) {
          expect(text).toContain(pid)
          expect(text).not.toMatch(EPOCH_MS)
        }
        expect(texts[1]).toMatch(/^Not yet/)
      })
    })
  }
}

test.each([100, 400, 1_000, 4_000])('no answer has more than maxChars: %d', async (maxChars) => {
  await using household = new Household()
  const client = await WAYS.stdio(await household.open(), { era: 'modern' })
  const run = `for i in $(seq 1 2000); do echo '"quoted" \\ line' $i; done; cat`
  const given = { run, stdin: 'pipe', name: 'long', maxChars }
  const texts = [
    await textOf(client, 'process_start', given),
    await textOf(client, 'process_poll', { pid: 'long', maxChars }),
    await textOf(client, 'process_wait', { pid: 'long', until: { text: 'line 2000' }, maxChars }),
    await textOf(client, 'process_write', { pid: 'long', text: 'x', enter: true, maxChars }),
    await textOf(client, 'process_log', { pid: 'long', limit: 500, maxChars }),
    await textOf(client, 'process_search', { pid: 'long', text: 'line', context: 3, maxChars }),
    await textOf(client, 'process_restart', { pid: 'long', maxChars }),
  ]
  for (const text of texts) expect(text.length, text).toBeLessThanOrEqual(maxChars)
  if (maxChars < 1_000) return
  for (const name of ['process_poll', 'process_log', 'process_search', 'process_wait']) {
    const extra =
      name === 'process_search'
        ? { text: 'line', context: 3 }
        : name === 'process_wait'
          ? { timeoutMs: 1 }
          : {}
    const { structured } = await call(client, name, { pid: 'long', maxChars, ...extra })
    expect(JSON.stringify(structured).length, name).toBeLessThanOrEqual(maxChars)
  }
})

test('polls one after the other show all lines, whatever the pages are, and none twice', async () => {
  await using household = new Household()
  const client = await WAYS.stdio(await household.open(), { era: 'modern' })
  const run = String.raw`for i in $(seq 1 300); do printf '\033[32mline %d\033[0m\r\n' $i; done; echo done; exec sleep 60`
  await textOf(client, 'process_start', { run, name: 'long', waitMs: 0 })
  await textOf(client, 'process_wait', { pid: 'long', until: { text: 'done' }, maxChars: 200 })
  const first = await textOf(client, 'process_log', { pid: 'long', line: 1, limit: 1 })
  expect(first).toContain('line 1')
  await textOf(client, 'process_restart', { pid: 'long', waitMs: 0, maxChars: 200 })
  const shown: string[] = []
  for (let page = 0; page < 100; page++) {
    const { structured } = await call<{ output: string; more: boolean }>(client, 'process_wait', {
      ...{ pid: 'long', until: { text: 'done' }, maxChars: 1_500 },
    })
    shown.push(structured.output)
    if (structured.output.includes('done')) break
  }
  const seen = shown.join('').split('\n')
  expect(seen.filter((line) => /^line \d+$/.test(line)).length).toBeGreaterThan(250)
  expect(new Set(seen).size).toBe(seen.length)
})
