import { FetchError, stream } from '@durable-streams/client'
import { connect } from 'reeve'
import { expect, test } from 'vitest'
import { TokenFile } from '../../src/daemon/token-file.ts'
import { TempReeve } from '../temp-reeve.ts'

const LIVE = [true, 'long-poll', 'sse'] as const
const TWO_PARTS = { run: String.raw`printf 'one\r\n\0\377'; read line; printf two`, stdin: 'pipe' } as const
const BOTH = Buffer.concat([Buffer.from('one\r\n\0'), Buffer.from([0xff]), Buffer.from('two')])

/** A client that tries again soon, and not for ever. */
function reading(temp: TempReeve, url: string, live: boolean | 'long-poll' | 'sse', offset = '-1') {
  const { token } = new TokenFile(temp.home).create({ role: 'read' })
  return {
    url,
    live,
    offset,
    headers: { Authorization: `Bearer ${token}` },
    warnOnHttp: false,
    backoffOptions: { initialDelay: 20, maxDelay: 200, multiplier: 2, maxRetries: 200 },
  }
}

const portOf = (url: string | null) => new URL(url ?? '').port

for (const live of LIVE) {
  test(`with live: ${live} the stock client reads output through a restart of the daemon to its end`, async () => {
    const temp = new TempReeve()
    const first = await temp.up()
    const { record } = await first.reeve.spawn({ kind: 'command', spec: TWO_PARTS })
    const url = `${first.url}/v1/processes/${record.pid}/output/stream`
    const read = await stream(reading(temp, url, live))
    const pieces: Uint8Array[] = []
    for await (const piece of read.bodyStream()) {
      const isFirst = pieces.length === 0
      pieces.push(piece)
      if (!isFirst) continue
      await first.close({ keep: true })
      const second = await temp.up({ flags: { listen: `127.0.0.1:${portOf(first.url)}` } })
      await second.reeve.write({ pid: record.pid, text: '\n' })
    }
    expect(Buffer.concat(pieces)).toEqual(BOTH)
    expect(read.streamClosed).toBe(true)
    expect(Number(read.offset)).toBe(BOTH.length)
  })

  test(`with live: ${live} the stock client follows events to the end of their process, each once`, async () => {
    const temp = new TempReeve()
    const daemon = await temp.up()
    const { record } = await daemon.reeve.spawn({ kind: 'command', spec: TWO_PARTS })
    const url = `${daemon.url}/v1/processes/${record.pid}/events/stream`
    const read = await stream<{ seq: number; type: string }>(reading(temp, url, live))
    const types: string[] = []
    for await (const { type } of read.jsonStream()) {
      types.push(type)
      if (type === 'program_started') await daemon.reeve.write({ pid: record.pid, text: '\n' })
    }
    expect(types).toEqual(['registered', 'started', 'program_started', 'ended'])
  })

  test(`with live: ${live} the stock client hears of changes as they are made`, async () => {
    const temp = new TempReeve()
    const daemon = await temp.up()
    const read = await stream<{ pid: string; type: string }>(
      reading(temp, `${daemon.url}/v1/changes/stream`, live, 'now'),
    )
    const heard: string[] = []
    const ended = Promise.withResolvers<void>()
    const stop = read.subscribeJson(async ({ items }) => {
      heard.push(...items.map(({ type }) => type))
      if (heard.includes('ended')) ended.resolve()
    })
    await daemon.reeve.spawn({ kind: 'command', spec: { run: 'true' } })
    await ended.promise
    stop()
    read.cancel()
    expect(heard).toEqual(['registered', 'started', 'program_started', 'ended'])
  })
}

for (const live of LIVE)
  test(`with live: ${live} the stock client goes on after kill -9 of the daemon: nothing missing, nothing twice`, async () => {
    const temp = new TempReeve()
    const first = await temp.start()
    const reeve = await connect({ home: temp.home.folder })
    const run = 'for i in $(seq 1 200); do echo line $i; sleep 0.005; done; read line; echo end'
    const { record } = await reeve.spawn({ kind: 'command', spec: { run, stdin: 'pipe' } })
    const url = `${first.url}/v1/processes/${record.pid}/output/stream`
    let text = ''
    let isKilled = false
    const readFrom = async (offset: string) => {
      const read = await stream(reading(temp, url, live, offset))
      read.closed.catch(() => undefined)
      try {
        for await (const piece of read.textStream()) {
          text += piece
          if (isKilled || !text.includes('line 50\n')) continue
          isKilled = true
          await first.kill()
          await temp.start(['--listen', `127.0.0.1:${portOf(first.url)}`])
          await reeve.write({ pid: record.pid, text: '\n' })
        }
      } catch (error) {
        // The client reports a broken event stream as an error. It continues from its last offset.
        if (live !== 'sse') throw error
      }
      return read
    }
    let read = await readFrom('-1')
    if (!read.streamClosed) read = await readFrom(read.offset)
    expect(read.streamClosed).toBe(true)
    await reeve.close()
    expect(text).toBe(`${Array.from({ length: 200 }, (_, i) => `line ${i + 1}\n`).join('')}end\n`)
  })

test('at a gap the stock client gets 410 and the next offset; our client continues after it and names the gap', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up({ flags: { outputHeadBytes: '1000', outputTailBytes: '2000' } })
  const { record } = await daemon.reeve.spawn({ kind: 'command', spec: { run: 'seq 1 20000' } })
  await daemon.reeve.wait({ pid: record.pid })
  const ours = await connect({ url: daemon.url ?? '', token: daemon.token })
  const gaps: { from: number; to: number }[] = []
  let text = ''
  for await (const { bytes, gap } of ours.followOutput({ pid: record.pid })) {
    text += Buffer.from(bytes).toString()
    if (gap !== null) gaps.push(gap)
  }
  await ours.close()
  expect(gaps).toHaveLength(1)
  const all = Array.from({ length: 20_000 }, (_, i) => `${i + 1}\n`).join('')
  expect(text).toBe(all.slice(0, gaps[0]?.from) + all.slice(gaps[0]?.to))

  const url = `${daemon.url}/v1/processes/${record.pid}/output/stream`
  for (const live of LIVE) {
    const read = await readPastGaps(reading(temp, url, live))
    expect(read).toEqual({ text, gaps })
  }
})

/** Uses the stock client as a program would: gaps are noted and skipped. */
async function readPastGaps(options: ReturnType<typeof reading>) {
  const gaps: unknown[] = []
  let text = ''
  for (let offset = options.offset; ; ) {
    try {
      const read = await stream({ ...options, offset })
      read.closed.catch(() => undefined)
      for await (const piece of read.bodyStream()) text += Buffer.from(piece).toString()
      return { text, gaps }
    } catch (error) {
      if (!(error instanceof FetchError) || error.status !== 410) throw error
      const { code, details } = JSON.parse(error.text ?? '')
      expect(code).toBe('gap')
      gaps.push(details)
      offset = error.headers['stream-next-offset'] ?? ''
    }
  }
}

test('content that a reader has is not sent again, unless the stream was closed since', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const { record } = await daemon.reeve.spawn({ kind: 'command', name: 'web', spec: TWO_PARTS })
  await daemon.reeve.wait({ pid: record.pid, until: { text: 'one' } })
  const { headers, url } = reading(temp, `${daemon.url}/v1/processes/web/output/stream`, false)
  const first = await fetch(url, { headers })
  await first.arrayBuffer()
  const has = { ...headers, 'If-None-Match': first.headers.get('etag') ?? '' }
  const again = await fetch(url, { headers: has })
  expect(again.status).toBe(304)
  expect(again.headers.get('stream-next-offset')).toBe(first.headers.get('stream-next-offset'))
  await daemon.reeve.kill({ pid: record.pid })
  const closed = await fetch(url, { headers: has })
  expect(closed.status).toBe(200)
  expect(closed.headers.get('stream-closed')).toBe('true')
  // Another process of the same name is another stream.
  const { record: other } = await daemon.reeve.spawn({ kind: 'command', name: 'web', spec: TWO_PARTS })
  await daemon.reeve.wait({ pid: other.pid, until: { text: 'one' } })
  expect((await fetch(url, { headers: has })).status).toBe(200)
  await daemon.reeve.kill({ pid: other.pid })
})

test('streams are read-only', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const { record } = await daemon.reeve.spawn({ kind: 'command', spec: { run: 'true' } })
  for (const path of [`processes/${record.pid}/output`, `processes/${record.pid}/events`, 'changes']) {
    const { headers, url } = reading(temp, `${daemon.url}/v1/${path}/stream`, false)
    for (const method of ['PUT', 'POST', 'DELETE']) {
      const said = await fetch(url, { method, headers, ...(method === 'DELETE' ? {} : { body: 'x' }) })
      expect(said.status).toBe(405)
      expect(said.headers.get('allow')).toBe('GET, HEAD')
    }
  }
})
