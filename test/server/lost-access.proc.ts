import { expect, test } from 'vitest'
import { TokenFile } from '../../src/daemon/token-file.ts'
import type { Daemon } from '../../src/daemon/up.ts'
import { until } from '../keeper/client.ts'
import { TempReeve } from '../temp-reeve.ts'
import { ask } from './ask.ts'
import { Screen } from './screen.ts'

/** Everything that lasts, on one process; the wait for a line and the streams are long polls but for the last one. */
const LASTING = [
  'wait',
  'wait?until={"text":"never"}',
  'output/stream?offset=now&live=long-poll',
  'events/stream?offset=now&live=long-poll',
  'output/stream?offset=now&live=sse',
  'events/stream?offset=now&live=sse',
] as const

/** A command of session `s1`, granted to `s2`, and a token of each. */
async function granted() {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const tokens = new TokenFile(temp.home)
  for (const session of ['s1', 's2', 's3']) await ask(daemon, `PUT /v1/sessions/${session}`, {})
  const body = {
    kind: 'command',
    spec: { run: 'echo here; exec cat', pty: true },
    owner: { session: 's1' },
    grants: [{ session: 's2' }],
  }
  const { pid } = (await ask(daemon, 'POST /v1/processes', { body })).json.record
  const until = encodeURIComponent('{"text":"here"}')
  expect((await ask(daemon, `GET /v1/processes/${pid}/wait?until=${until}`)).json.type).toBe('matched')
  const tokenOf = (session: string) => tokens.create({ role: 'agent', session })
  return { daemon, tokens, pid: pid as string, tokenOf }
}

/** Opens everything that lasts, with one token, and resolves when all of it was let in. */
async function openAll(daemon: Daemon, pid: string, token: string) {
  const answers = LASTING.map((what) =>
    ask(daemon, `GET /v1/processes/${pid}/${encodeURI(what)}`, { token }).then(
      ({ status, text }) => `${status} ${status >= 400 ? JSON.parse(text).code : ''}`.trim(),
      () => 'cut',
    ),
  )
  const headers = { authorization: `Bearer ${token}` }
  const screen = await new Screen(daemon, `/v1/processes/${pid}/terminal`, headers, false).opened()
  await screen.shows('here')
  await until('all are let in', async () => {
    const [, count] = /^reeve_connections (\d+)/m.exec((await ask(daemon, 'GET /metrics')).text) ?? []
    return Number(count) > LASTING.length + 1
  })
  return { answers, screen }
}

/** A started stream of events just ends; the next request is told why. */
const DENIED = ['403 denied', '403 denied', '403 denied', '403 denied', '200', '200']

test('losing a grant ends waits, streams and terminals at once, with the reason', async () => {
  const { daemon, pid, tokenOf } = await granted()
  const { token } = tokenOf('s2')
  const { answers, screen } = await openAll(daemon, pid, token)
  await ask(daemon, 'POST /v1/sessions/s2/revoke', { body: { pids: [pid] } })
  expect(await Promise.all(answers)).toEqual(DENIED)
  await until('the terminal is closed', () => screen.closed !== undefined)
  expect(screen.closed).toEqual({ code: 1008, reason: 'denied' })
  for (const what of LASTING)
    expect((await ask(daemon, `GET /v1/processes/${pid}/${encodeURI(what)}`, { token })).json.code).toBe(
      'denied',
    )
})

test('losing a process to another session ends waits, streams and terminals at once, and input is refused', async () => {
  const { daemon, pid, tokenOf } = await granted()
  const { token } = tokenOf('s1')
  const { answers, screen } = await openAll(daemon, pid, token)
  await ask(daemon, `POST /v1/processes/${pid}/owner`, { body: { owner: { session: 's3' } } })
  screen.ws.send(Buffer.from('late\n'))
  expect(await Promise.all(answers)).toEqual(DENIED)
  await until('the terminal is closed', () => screen.closed !== undefined)
  expect(screen.closed).toEqual({ code: 1008, reason: 'denied' })
  expect((await ask(daemon, `GET /v1/processes/${pid}/output/stream`)).text).not.toContain('late')
})

test('revoking a token ends its waits, streams and terminals, with the reason', async () => {
  const { daemon, pid, tokens, tokenOf } = await granted()
  const { token, kept } = tokenOf('s2')
  const { answers, screen } = await openAll(daemon, pid, token)
  tokens.revoke(kept.id)
  const told = '401 unauthorized'
  expect(await Promise.all(answers)).toEqual([told, told, told, told, 'cut', 'cut'])
  await until('the terminal is closed', () => screen.closed !== undefined)
  expect(screen.closed).toEqual({ code: 1008, reason: 'unauthorized' })
})
