import { readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Daemon } from '../../src/daemon/up.ts'
import { TempReeve } from '../temp-reeve.ts'
import { type Asking, ask, type Said } from './ask.ts'
import { readEvents, type ServerEvent } from './sse.ts'

const offset = (n: number) => String(n).padStart(16, '0')
const next = ({ headers }: Said) => String(headers['stream-next-offset'])

async function spawn(daemon: Daemon, line: string, more: object = {}): Promise<string> {
  const body = { kind: 'command', spec: { run: line, ...more } }
  return (await ask(daemon, 'POST /v1/processes', { body })).json.record.pid
}
const ended = (daemon: Daemon, pid: string) => ask(daemon, `GET /v1/processes/${pid}/wait?timeoutMs=30000`)

test('the output of a command that has ended is read from any offset, and is closed there', async () => {
  const daemon = await new TempReeve().up()
  const pid = await spawn(daemon, 'printf 0123456789')
  await ended(daemon, pid)
  const path = `/v1/processes/${pid}/output/stream`
  const all = await ask(daemon, `GET ${path}`)
  expect(all).toMatchObject({
    status: 200,
    text: '0123456789',
    headers: {
      'content-type': 'application/octet-stream',
      'stream-next-offset': offset(10),
      'stream-up-to-date': 'true',
      'stream-closed': 'true',
      'cache-control': 'no-store',
    },
  })
  expect((await ask(daemon, `GET ${path}?offset=${offset(7)}`)).text).toBe('789')
  expect(await ask(daemon, `GET ${path}?offset=now`)).toMatchObject({ status: 200, text: '' })
  const live = await ask(daemon, `GET ${path}?offset=${offset(10)}&live=long-poll`)
  expect(live).toMatchObject({ status: 204, headers: { 'stream-closed': 'true' } })
  const record = (await ask(daemon, `GET /v1/processes/${pid}`)).json
  for (const { headers } of [all, live])
    expect(JSON.parse(String(headers['reeve-outcome']))).toEqual(record['outcome'])
  const head = await ask(daemon, `HEAD ${path}`)
  expect(head).toMatchObject({
    status: 200,
    headers: { 'stream-next-offset': offset(10), 'stream-closed': 'true' },
  })
})

test('a log that is shorter than the printed output is closed at its own end', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const pid = await spawn(daemon, 'printf 0123456789')
  await ended(daemon, pid)
  const [segment] = readdirSync(join(temp.home.commands, 'output', pid)).filter((name) => /^\d+$/.test(name))
  truncateSync(join(temp.home.commands, 'output', pid, segment ?? ''), 4)
  const path = `/v1/processes/${pid}/output/stream`
  const all = await ask(daemon, `GET ${path}?offset=-1&live=sse`)
  const { data, control } = Object.fromEntries(
    [...all.text.matchAll(/^event: (\w+)\ndata:(.*)$/gm)].map(([, name, said]) => [name, said]),
  )
  expect(Buffer.from(data, 'base64').toString()).toBe('0123')
  expect(JSON.parse(control)).toMatchObject({ streamNextOffset: offset(4), streamClosed: true })
})

test('a long poll is answered when there is content, and empty after its timeout', async () => {
  const daemon = await new TempReeve().up({ streams: { pollMs: 300 } })
  const pid = await spawn(daemon, 'read line; echo "got $line"; read line', { stdin: 'pipe' })
  const path = `/v1/processes/${pid}/output/stream`
  const nothing = await ask(daemon, `GET ${path}?offset=-1&live=long-poll`)
  expect(nothing).toMatchObject({ status: 204, headers: { 'stream-up-to-date': 'true' } })
  expect(nothing.headers['stream-cursor']).toMatch(/^\d+$/)
  const patient = await new TempReeve().up()
  const other = await spawn(patient, 'read line; echo "got $line"; read line', { stdin: 'pipe' })
  const waiting = ask(patient, `GET /v1/processes/${other}/output/stream?offset=-1&live=long-poll`)
  await ask(patient, `POST /v1/processes/${other}/write`, { body: { text: 'it\n' } })
  expect(await waiting).toMatchObject({ status: 200, text: 'got it\n' })
})

test('following by long poll has no gap and no repeat, over any number of requests', async () => {
  const daemon = await new TempReeve().up()
  const pid = await spawn(
    daemon,
    'for i in $(seq 1 300); do echo line $i; [ $((i % 50)) = 0 ] && sleep 0.02; done',
  )
  let at = '-1'
  let text = ''
  for (let said: Said | undefined; said?.headers['stream-closed'] !== 'true'; ) {
    said = await ask(daemon, `GET /v1/processes/${pid}/output/stream?offset=${at}&live=long-poll`)
    expect([200, 204]).toContain(said.status)
    text += said.text
    at = next(said)
  }
  expect(text).toBe(Array.from({ length: 300 }, (_, i) => `line ${i + 1}\n`).join(''))
})

test('events of a process are followed to its end, each once', async () => {
  const daemon = await new TempReeve().up()
  const pid = await spawn(daemon, 'sleep 0.2')
  const seqs: number[] = []
  let at = '-1'
  for (let said: Said | undefined; said?.headers['stream-closed'] !== 'true'; at = next(said)) {
    said = await ask(daemon, `GET /v1/processes/${pid}/events/stream?offset=${at}&live=long-poll`)
    if (said.status === 200) seqs.push(...said.json.map(({ seq }: { seq: number }) => seq))
  }
  const { events } = (await ask(daemon, `GET /v1/processes/${pid}/events`)).json
  expect(seqs).toEqual(events.map(({ seq }: { seq: number }) => seq))
  expect(events.at(-1).type).toBe('ended')
})

test('changes are followed from any position, filtered, and never close', async () => {
  const daemon = await new TempReeve().up({ streams: { pollMs: 300 } })
  const before = await ask(daemon, 'GET /v1/changes/stream?offset=now')
  expect(before).toMatchObject({ status: 200, text: '[]' })
  const pids = await Promise.all(['one', 'two', 'three'].map((word) => spawn(daemon, `echo ${word}`)))
  await Promise.all(pids.map((pid) => ended(daemon, pid)))
  const all = await ask(daemon, `GET /v1/changes/stream?offset=${next(before)}`)
  expect(new Set(all.json.map(({ pid }: { pid: string }) => pid))).toEqual(new Set(pids))
  expect(all.headers).not.toHaveProperty('stream-closed')
  const filter = encodeURIComponent(JSON.stringify({ pid: pids[0] }))
  const some = await ask(daemon, `GET /v1/changes/stream?offset=-1&filter=${filter}`)
  expect(new Set(some.json.map(({ pid }: { pid: string }) => pid))).toEqual(new Set([pids[0]]))
  const rest = await ask(
    daemon,
    `GET /v1/changes/stream?offset=${next(some)}&live=long-poll&filter=${filter}`,
  )
  expect(rest).toMatchObject({ status: 204, headers: { 'stream-up-to-date': 'true' } })
  const wrong = await ask(daemon, 'GET /v1/changes/stream?filter=%7B%22colour%22%3A1%7D')
  expect(wrong).toMatchObject({ status: 422, json: { code: 'invalid_input' } })
})

test('a reader from the beginning skips pruned events, and a reader before them is told', async () => {
  const daemon = await new TempReeve().up()
  const kept = await spawn(daemon, 'sleep 300')
  const gone = await spawn(daemon, 'true')
  await ended(daemon, gone)
  await ask(daemon, 'POST /v1/prune', { body: { keep: 0 } })
  const all = await ask(daemon, 'GET /v1/changes/stream?offset=-1')
  expect(new Set(all.json.map(({ pid }: { pid: string }) => pid))).toEqual(new Set([kept]))
  expect((await ask(daemon, `GET /v1/changes/stream?offset=${next(all)}`)).json).toEqual([])
  const behind = await ask(daemon, `GET /v1/changes/stream?offset=${offset(1)}`)
  expect(behind).toMatchObject({ status: 410, json: { code: 'behind_pruned' } })
})

test('as server-sent events, bytes are base64 and each data is followed by the next offset', async () => {
  const daemon = await new TempReeve().up()
  const pid = await spawn(daemon, String.raw`printf 'a\r\nb\0\377'; sleep 0.1; echo end`)
  const { headers, events } = await readEvents(
    daemon,
    `/v1/processes/${pid}/output/stream?offset=-1&live=sse`,
  )
  expect(headers).toMatchObject({
    'content-type': 'text/event-stream',
    'stream-sse-data-encoding': 'base64',
    'cache-control': 'no-cache',
  })
  const data = events.filter(({ event }) => event === 'data')
  const bytes = Buffer.concat(data.map(({ data }) => Buffer.from(data, 'base64')))
  expect(bytes).toEqual(Buffer.concat([Buffer.from('a\r\nb\0'), Buffer.from([0xff]), Buffer.from('end\n')]))
  events.forEach(({ event }, i) => {
    if (event === 'data') expect(events[i + 1]?.event).toBe('control')
  })
  expect(JSON.parse(events.at(-1)?.data ?? '')).toEqual({
    streamNextOffset: offset(bytes.length),
    streamClosed: true,
    upToDate: true,
  })
})

test('a reader of server-sent events that is cut repeatedly misses nothing and gets nothing twice', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up({ streams: { sseMs: 60 } })
  const enough = join(temp.home.folder, 'enough')
  const pid = await spawn(
    daemon,
    `i=0; while [ ! -e ${enough} ]; do i=$((i + 1)); echo line $i; sleep 0.01; done`,
  )
  let at = '-1'
  let text = ''
  let connections = 0
  for (let closed = false; !closed; connections++) {
    if (connections === 5) writeFileSync(enough, '')
    const { events } = await readEvents(daemon, `/v1/processes/${pid}/output/stream?offset=${at}&live=sse`)
    for (const { event, data } of events) {
      if (event === 'data') text += Buffer.from(data, 'base64').toString()
      else {
        const control = JSON.parse(data)
        at = control.streamNextOffset
        closed = control.streamClosed === true
      }
    }
  }
  const { total } = await daemon.reeve.log({ pid })
  expect(text).toBe(Array.from({ length: total }, (_, i) => `line ${i + 1}\n`).join(''))
  expect(connections).toBeGreaterThan(5)
})

test('output is served up to a gap, then the gap is named, then output after it is served', async () => {
  const daemon = await new TempReeve().up({ flags: { outputHeadBytes: '1000', outputTailBytes: '2000' } })
  const pid = await spawn(daemon, 'seq 1 20000')
  await ended(daemon, pid)
  const read = (at: string, asking: Asking = {}) =>
    ask(daemon, `GET /v1/processes/${pid}/output/stream?offset=${at}`, asking)
  const head = await read('-1')
  const from = Number(next(head))
  expect(head.bytes.length).toBe(from)
  expect(head.headers).not.toHaveProperty('stream-closed')
  const gap = await read(next(head))
  expect(gap).toMatchObject({ status: 410, json: { code: 'gap', details: { from } } })
  const { to } = gap.json.details
  const live = await read(`${next(head)}&live=sse`)
  expect(live).toMatchObject({ status: 410, json: { code: 'gap', details: { from, to } } })
  let tail = await read(offset(to))
  let text = tail.text
  while (tail.headers['stream-closed'] !== 'true') {
    tail = await read(next(tail))
    text += tail.text
  }
  expect(text.endsWith('19999\n20000\n')).toBe(true)
  expect(text.length).toBe(Number(next(tail)) - to)
})

test('streams end when the daemon stops, and continue with the next one', async () => {
  const temp = new TempReeve()
  const first = await temp.up()
  const pid = await spawn(first, 'echo one; read line; echo two', { stdin: 'pipe' })
  const path = `/v1/processes/${pid}/output/stream`
  const begun = Promise.withResolvers<void>()
  const reading = readEvents(first, `${path}?offset=-1&live=sse`, (events) => {
    if (events.at(-2)?.event === 'data') begun.resolve()
    return false
  })
  const polling = ask(first, `GET ${path}?offset=${offset(4)}&live=long-poll`).catch(() => undefined)
  await begun.promise
  await first.close({ keep: true })
  const { events } = await reading
  await polling
  expect(textIn(events)).toBe('one\n')
  const { streamNextOffset } = JSON.parse(events.at(-1)?.data ?? '')
  const second = await temp.up()
  await ask(second, `POST /v1/processes/${pid}/write`, { body: { text: '\n' } })
  const { events: rest } = await readEvents(second, `${path}?offset=${streamNextOffset}&live=sse`)
  expect(textIn(rest)).toBe('two\n')
})

function textIn(events: readonly ServerEvent[]): string {
  const pieces = events.filter(({ event }) => event === 'data').map(({ data }) => Buffer.from(data, 'base64'))
  return Buffer.concat(pieces).toString()
}
