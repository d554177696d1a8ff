import { tmpdir } from 'node:os'
import { describe, expect, test } from 'vitest'
import { TempReeve } from '../temp-reeve.ts'
import { call, ERAS, textOf, WAYS } from './connected.ts'

interface Begun {
  finished: boolean
  process: { pid: string; status: string; exitCode: number | null; cwd: string | null }
  output: string
  more: boolean
}

for (const [way, connect] of Object.entries(WAYS)) {
  for (const era of ERAS) {
    describe(`over ${way} in the ${era} era`, () => {
      test('a fast command is done in one call', async () => {
        await using temp = new TempReeve()
        const client = await connect(await temp.embed(), { era, cwd: tmpdir() })
        const { structured, text } = await call<Begun>(client, 'process_start', { run: 'echo hello; exit 7' })
        expect(structured).toMatchObject({ finished: true, output: 'hello\n', process: { exitCode: 7 } })
        expect(text).toMatch(/^p_\w+ failed \(exit code 7\) after .* m?s: echo hello; exit 7\nhello$/)
        if (way === 'stdio') expect(structured.process.cwd).toBe(tmpdir())
      })

      test('a command gets an allowance, and the list shows it', async () => {
        await using temp = new TempReeve()
        const client = await connect(await temp.embed(), { era })
        const allowance = { outputBytes: 5_000, toolCalls: 4 }
        const asked = { run: 'echo hello; sleep 1000', allowance, waitMs: 0 }
        const started = await call<Begun>(client, 'process_start', asked)
        const list = await call<{ processes: unknown[] }>(client, 'process_list')
        expect(list.structured.processes).toMatchObject([{ budget: { given: allowance, left: allowance } }])
        expect(list.text).toContain('[used 0 of 4 toolCalls, 0 of 5000 outputBytes]')
        await call(client, 'process_kill', { pid: started.structured.process.pid })
      })

      test('a slow command gives a pid, and is waited for, polled, searched, read, written to and killed', async () => {
        await using temp = new TempReeve()
        const client = await connect(await temp.embed(), { era })
        const run = 'echo one; while read -r line; do echo "got $line"; done'
        const started = await call<Begun>(client, 'process_start', {
          run,
          stdin: 'pipe',
          waitMs: 100,
          name: 'echo',
        })
        expect(started.structured).toMatchObject({ finished: false, process: { status: 'running' } })
        expect(started.text).toContain('process_wait')
        const { pid } = started.structured.process

        const wrote = await call(client, 'process_write', { pid: 'echo', text: 'two', enter: true })
        expect(wrote.structured).toMatchObject({ matched: null, output: 'got two\n' })
        const asked = { pid, text: 'three', enter: true, until: { text: 'got three' } }
        expect((await call(client, 'process_write', asked)).structured).toMatchObject({ matched: true })

        const waited = await call(client, 'process_wait', { pid, until: { pattern: '^got t.o$' } })
        expect(waited.structured).toMatchObject({ type: 'matched', line: 'got two', output: '' })
        const polled = await call<{ readTo: number }>(client, 'process_poll', { pid })
        const from = polled.structured.readTo
        const later = { pid, until: { text: 'got', from }, timeoutMs: 100 }
        expect((await call(client, 'process_wait', later)).structured).toMatchObject({ type: 'timed_out' })
        expect(polled.structured).toMatchObject({ output: '', process: { status: 'running' } })

        const found = await call(client, 'process_search', { pid, text: 'got', context: 1 })
        expect(found.structured).toMatchObject({
          total: 2,
          matches: [{ text: 'got two' }, { text: 'got three' }],
        })
        const log = await call(client, 'process_log', { pid, limit: 2 })
        expect(log.structured).toMatchObject({
          lines: [{ text: 'got two' }, { text: 'got three' }],
          total: 3,
          earlier: { line: 1, limit: 1 },
          later: null,
        })
        const list = await call<{ processes: unknown[] }>(client, 'process_list')
        expect(list.structured.processes).toMatchObject([{ pid, name: 'echo' }])

        const again = await call<Begun>(client, 'process_restart', { pid, waitMs: 0 })
        expect(again.structured.process.pid).not.toBe(pid)
        const killed = await call(client, 'process_kill', { pid: again.structured.process.pid })
        expect(killed.structured).toMatchObject({ type: 'ended', process: { status: 'cancelled' } })

        const inbox = await call<{ notices: { pid: string }[]; next: number }>(client, 'inbox')
        expect(inbox).toMatchObject({ structured: { notices: [] }, text: 'Nothing new.' })
      })

      test('process_screen shows a terminal', async () => {
        await using temp = new TempReeve()
        const client = await connect(await temp.embed(), { era })
        const argv = ['sh', '-c', "printf '\\033[2J\\033[3;5Hhere'; exec sleep 60"]
        const started = await call<Begun>(client, 'process_start', {
          argv,
          pty: { cols: 20, rows: 4 },
          waitMs: 0,
        })
        const { pid } = started.structured.process
        await call(client, 'process_wait', { pid, until: { text: 'here' } })
        const seen = await call(client, 'process_screen', { pid })
        expect(seen.structured).toMatchObject({ lines: ['', '', '    here', ''], cols: 20, rows: 4 })
      })

      test('an interrupt reaches all processes of the session', async () => {
        await using temp = new TempReeve()
        const client = await connect(await temp.embed(), { era })
        for (const name of ['a', 'b'])
          await call(client, 'process_start', { run: 'sleep 60', name, waitMs: 0 })
        const { structured } = await call<{ signalled: string[] }>(client, 'interrupt', { all: true })
        expect(structured.signalled).toHaveLength(2)
        const waited = await call(client, 'process_wait', { pid: 'a' })
        expect(waited.structured).toMatchObject({ type: 'ended', process: { reason: 'interrupted' } })
      })

      test('an error is a result that says what happened and what to do', async () => {
        await using temp = new TempReeve()
        const client = await connect(await temp.embed(), { era })
        const unknown = await call(client, 'process_poll', { pid: 'nobody' })
        expect(unknown).toMatchObject({ isError: true })
        expect(unknown.text).toMatch(/There is no process nobody\.\n.*process_list.*\n\(unknown_pid\)/)
        expect(await call(client, 'process_start', {})).toMatchObject({ isError: true })
        expect(await call(client, 'process_start', { run: 'true', shell: 'zsh' })).toMatchObject({
          isError: true,
        })
        const missing = await call<Begun>(client, 'process_start', { argv: ['no-such-program'] })
        expect(missing.text).toContain('failed_start')
        expect(missing.text).toContain('PATH')
      })
    })
  }
}

test('a complete long output is shown by its beginning and end, within a page', async () => {
  await using temp = new TempReeve()
  const client = await WAYS.stdio(await temp.embed(), { era: 'modern' })
  const text = await textOf(client, 'process_start', { run: 'seq 1 100000', waitMs: 30_000 })
  expect(text.length).toBeLessThanOrEqual(4_000)
  expect(text).toContain('\n1\n2\n3\n')
  expect(text).toContain('process_log')
  expect(text.endsWith('99999\n100000')).toBe(true)
  const pid = text.slice(0, text.indexOf(' '))
  const log = await textOf(client, 'process_log', { pid, limit: 2_000 })
  expect(log.length).toBeLessThanOrEqual(4_000)
  const more = await textOf(client, 'process_log', { pid, limit: 2_000, maxChars: 50_000 })
  expect(more.length).toBeGreaterThan(10_000)
  expect(more.length).toBeLessThanOrEqual(50_000)
  // The omitted output stays unread, and is then shown page by page.
  const [, next] = (await textOf(client, 'process_poll', { pid })).split('\n')
  expect(text).toContain(`\n${Number(next) - 1}\n[… left out`)
})
