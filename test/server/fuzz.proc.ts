import { connect } from 'node:net'
import fc from 'fast-check'
import { openSqlite } from 'reeve/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import type { Daemon } from '../../src/daemon/up.ts'
import { assertSound } from '../../src/testing/conformance/sound.ts'
import { type VerbName, verbs } from '../../src/verbs/reeve.ts'
import { TempReeve } from '../temp-reeve.ts'
import { ask } from './ask.ts'

/** The time limit of the whole test; remaining cases are left out. */
const BUDGET_MS = 12_000
/** No answer may take longer. A wait that is asked for may: those have short times here. */
const ANSWER_MS = 30_000

const names = Object.keys(verbs) as VerbName[]
const members = [
  'pid',
  'after',
  'limit',
  'filter',
  'session',
  'kind',
  'spec',
  'offset',
  'scope',
  'text',
  'events',
]
const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.constantFrom('', 'p_', '..', '\0', '$bytes', '__proto__', 'constructor', -1, 1e300, 2 ** 53, null),
  fc.record({ $bytes: fc.oneof(fc.base64String(), fc.anything()) }),
)
const body = fc.dictionary(fc.oneof(fc.constantFrom(...members, '__proto__'), fc.string()), anything, {
  maxKeys: 6,
})
const piece = fc.oneof(
  fc.string({ maxLength: 30 }).map(encodeURIComponent),
  fc.constantFrom('%00', '%ff', '%2f', '%2e%2e', '%zz', '~', 'p_%', '%F0%9F%98%80'),
)

function bounded<Type>(asked: Promise<Type>): Promise<Type> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error('There was no answer in time.')), ANSWER_MS).unref()
  })
  return Promise.race([asked, late])
}

/** Asks, and checks the answer: in time, no error of Reeve itself, and no change by a refusal or a read. */
async function isSound(
  daemon: Daemon,
  route: string,
  body?: { readonly raw: string },
): Promise<'done' | 'refused'> {
  const before = daemon.reeve.position()
  const said = await bounded(ask(daemon, route, body))
  expect(said.status).not.toBe(500)
  if (said.status >= 400) {
    expect(said.headers['content-type']).toBe('application/problem+json')
    expect(said.json).toMatchObject({ status: said.status })
    expect(said.json.remedy).not.toBe('')
  }
  const isDone = said.status < 400
  if (!isDone || route.startsWith('GET ')) expect(daemon.reeve.position()).toBe(before)
  return isDone ? 'done' : 'refused'
}

test('random input to a verb is answered in time, and never with an internal error', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up({ flags: { waitMs: '50' } })
  const request = fc.record({
    name: fc.constantFrom(...names),
    body,
    pieces: fc.array(piece, { minLength: 2 }),
  })
  const counts = { done: 0, refused: 0 }
  const property = fc.asyncProperty(request, async ({ name, body, pieces }) => {
    const [method = '', path = ''] = verbs[name].route.split(' ')
    let i = 0
    const filled = path.replaceAll(/\{\w+\}/g, () => pieces[i++ % pieces.length] || 'x')
    const timed = 'timeoutMs' in Object((verbs[name].input as { shape?: object }).shape)
    const given = timed ? { ...body, timeoutMs: 20 } : body
    if (method === 'POST' || method === 'PUT') {
      const raw = JSON.stringify(given) ?? '{}'
      counts[await isSound(daemon, `${method} /v1${filled}`, { raw })] += 1
      return
    }
    const query = new URLSearchParams()
    for (const [key, value] of Object.entries(given))
      query.append(key, typeof value === 'string' ? value : `${JSON.stringify(value)}`)
    counts[await isSound(daemon, `${method} /v1${filled}?${query}`)] += 1
  })
  await fc.assert(property, {
    numRuns: 2_000,
    interruptAfterTimeLimit: BUDGET_MS,
    markInterruptAsFailure: false,
  })
  expect(counts.done).toBeGreaterThan(0)
  expect(counts.refused).toBeGreaterThan(0)
  expect(temp.logged.filter(({ level }) => level === 'error')).toEqual([])
  expect((await ask(daemon, 'GET /readyz')).status).toBe(200)
  const store = await openSqlite(temp.home.store)
  onTestFinished(() => store.close())
  await assertSound(store)
})

test('random bytes on a connection are answered or closed, and the daemon stays healthy', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up({ limits: { headersMs: 200, requestMs: 300 } })
  const before = daemon.reeve.position()
  const line = fc.oneof(
    fc.constantFrom(
      'GET / HTTP/1.1',
      'POST /v1/processes HTTP/1.1',
      'Host: localhost',
      'Content-Length: 5',
      '{}',
      '',
    ),
    fc.constantFrom(
      'Transfer-Encoding: chunked',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Expect: 100-continue',
    ),
    fc.constantFrom(
      'Content-Length: -1',
      'Host:',
      'CONNECT evil:1 HTTP/1.1',
      'OPTIONS * HTTP/1.1',
      'ffffffffff',
      '0',
    ),
    fc.string({ unit: 'binary', maxLength: 40 }),
  )
  const property = fc.asyncProperty(
    fc.array(line, { maxLength: 12 }),
    fc.boolean(),
    async (lines, leaves) => {
      const socket = connect(daemon.home.socket)
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
      socket.on('error', () => undefined)
      socket.resume()
      socket.write(`${lines.join('\r\n')}\r\n\r\n`)
      if (leaves) socket.destroy()
      else socket.end()
      await bounded(closed)
    },
  )
  await fc.assert(property, {
    numRuns: 300,
    interruptAfterTimeLimit: BUDGET_MS,
    markInterruptAsFailure: false,
  })
  expect(daemon.reeve.position()).toBe(before)
  expect(temp.logged.filter(({ level }) => level === 'error')).toEqual([])
  expect((await ask(daemon, 'GET /readyz')).status).toBe(200)
})
