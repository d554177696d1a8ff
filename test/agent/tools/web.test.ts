import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { type WebParts, webFetchTool } from '../../../src/agent/tools/web/web-fetch.ts'
import { isNamed } from '../../../src/core/capability/is-named.ts'
import { refusal } from '../../../src/core/refusal.ts'
import { callerOf } from './call-tool.ts'

async function serverWith(listener: RequestListener): Promise<number> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    return new Promise<void>((resolve) => void server.close(() => resolve()))
  })
  return (server.address() as AddressInfo).port
}

/** A fetcher whose rules allow these resources. Names are resolved by `names` alone: nothing leaves this machine. */
function fetcher(
  resources: readonly string[] = [],
  given: Partial<WebParts> & { names?: Record<string, string[]> } = {},
) {
  const { names = {}, ...parts } = given
  const rules = resources.map((resource, index) => ({
    id: `r${index}`,
    effect: 'allow' as const,
    rights: ['read' as const],
    resource,
  }))
  const tool = webFetchTool({
    isNamed: (need, byPort) => isNamed([{ rules, trusted: true }], need, { at: 0, host: null }, byPort),
    ownAddresses: () => [],
    refuse: async () => undefined,
    resolve: async (host) => {
      const found = names[host]
      if (found === undefined) throw new Error(`unknown name ${host}`)
      return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    },
    ...parts,
  })
  const caller = callerOf([tool])
  return {
    text: (url: string, offset?: number) =>
      caller.text('web_fetch', { url, ...(offset === undefined ? {} : { offset }) }),
    call: (url: string) => caller.call('web_fetch', { url }),
    refused: (url: string) => caller.refused('web_fetch', { url }),
    needs: (url: string) => caller.needs('web_fetch', { url }),
  }
}

/** Requests that would reach a server of this machine, or of its network. `PORT` is a server that must not be asked. */
const INTERNAL = [
  'http://127.0.0.1:PORT/',
  'http://127.1:PORT/',
  'http://2130706433:PORT/',
  'http://0x7f000001:PORT/',
  'http://0177.0.0.1:PORT/',
  'http://0x7f.0.0.1:PORT/',
  'http://127.0.0.1.:PORT/',
  'http://127%2e0%2e0%2e1:PORT/',
  'http://１２７.0.0.1:PORT/',
  'http://0.0.0.0:PORT/',
  'http://[::1]:PORT/',
  'http://[::]:PORT/',
  'http://[::ffff:127.0.0.1]:PORT/',
  'http://[::ffff:7f00:1]:PORT/',
  'http://[::127.0.0.1]:PORT/',
  'http://[2002:7f00:1::]:PORT/',
  'http://[64:ff9b::7f00:1]:PORT/',
  'http://[64:ff9b:1::7f00:1]:PORT/',
  'http://[fe80::1]:PORT/',
  'http://[fd00::1]:PORT/',
  'http://[ff02::1]:PORT/',
  'http://10.0.0.1/',
  'http://172.16.5.5/',
  'http://192.168.1.1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://100.64.0.1/',
  'http://224.0.0.1/',
  'http://255.255.255.255/',
  'http://localhost:PORT/',
  'http://rebinds.example:PORT/',
  'http://mixed.example:PORT/',
  'http://six.example:PORT/',
]

const NAMES = {
  localhost: ['127.0.0.1'],
  'rebinds.example': ['127.0.0.1'],
  'mixed.example': ['93.184.216.34', '10.1.2.3'],
  'six.example': ['::ffff:192.168.0.1'],
}

test.each(INTERNAL)('%s is refused, and nothing is asked', async (url) => {
  let asked = 0
  const port = await serverWith((_, response) => {
    asked += 1
    response.end('secret')
  })
  const { refused } = fetcher(['net:**', 'net:rebinds.example', 'net:*.example'], { names: NAMES })
  expect(await refused(url.replace('PORT', String(port)))).toMatchObject({ code: 'address_refused' })
  expect(asked).toBe(0)
})

test.each([
  'http://good.example@127.0.0.1:PORT/',
  'http://127.0.0.1:80@127.0.0.1:PORT/',
  'http://user:password@example.com/',
  'file:///etc/passwd',
  'ftp://127.0.0.1/',
  'gopher://127.0.0.1:PORT/',
  'data:text/plain,hello',
  'javascript:alert(1)',
  '//127.0.0.1:PORT/',
  'no url',
])('%s is no URL that is fetched', async (url) => {
  expect(await fetcher(['net:127.0.0.1']).refused(url.replace('PORT', '1'))).toMatchObject({
    code: 'invalid_input',
  })
})

test('a server at an address that a capability names is fetched', async () => {
  const port = await serverWith((request, response) => {
    response.setHeader('content-type', 'text/plain')
    response.end(`${request.method} ${request.url} ${request.headers.host}`)
  })
  const { text, needs } = fetcher([`net:127.0.0.1:${port}`], { names: { localhost: ['127.0.0.1'] } })
  const url = `http://127.0.0.1:${port}/a?b=1`
  expect(await text(`${url}#part`)).toBe(`${url}\n\nGET /a?b=1 127.0.0.1:${port}`)
  expect(await text(`http://localhost:${port}/`)).toContain('GET /')
  expect(await needs(url)).toEqual([
    { right: 'read', resource: { kind: 'net', host: '127.0.0.1', port }, attributes: { method: 'GET' } },
  ])
  expect(await fetcher([`net:127.0.0.1:${port + 1}`]).refused(url)).toMatchObject({ code: 'address_refused' })
  expect(
    await fetcher([`net:localhost:${port}`], { names: { localhost: ['127.0.0.1'] } }).text(
      `http://localhost:${port}/`,
    ),
  ).toContain('GET /')
})

test('a redirect to an internal address is refused, also one that is hidden behind a name or a second redirect', async () => {
  let asked = 0
  const secret = await serverWith((_, response) => {
    asked += 1
    response.end('secret')
  })
  const targets: Record<string, string> = {
    '/direct': `http://127.0.0.2:${secret}/`,
    '/six': `http://[::1]:${secret}/`,
    '/decimal': `http://2130706434:${secret}/`,
    '/name': `http://rebinds.example:${secret}/`,
    '/metadata': 'http://169.254.169.254/latest/meta-data/',
    '/twice': '/direct',
    '/file': 'file:///etc/passwd',
    '/user': `http://a@127.0.0.1:${secret}/`,
    '/loop': '/loop',
    '/broken': 'http://',
  }
  const port = await serverWith((request, response) => {
    response.writeHead(302, { location: targets[request.url ?? ''] ?? '' }).end()
  })
  const { refused } = fetcher([`net:127.0.0.1:${port}`], { names: { 'rebinds.example': ['127.0.0.1'] } })
  const codes = new Map<string, string>()
  for (const path of Object.keys(targets))
    codes.set(path, (await refused(`http://127.0.0.1:${port}${path}`)).code)
  expect(Object.fromEntries(codes)).toEqual({
    '/direct': 'address_refused',
    '/six': 'address_refused',
    '/decimal': 'address_refused',
    '/name': 'address_refused',
    '/metadata': 'address_refused',
    '/twice': 'address_refused',
    '/file': 'invalid_input',
    '/user': 'invalid_input',
    '/loop': 'fetch_failed',
    '/broken': 'fetch_failed',
  })
  expect(asked).toBe(0)
})

test('a redirect to another host is ruled on by the gate, and one within a host is followed', async () => {
  const port = await serverWith((request, response) => {
    if (request.url === '/away') response.writeHead(307, { location: 'http://other.example/' }).end()
    else if (request.url === '/old') response.writeHead(301, { location: '/new' }).end()
    else response.writeHead(200, { 'content-type': 'text/plain' }).end('here')
  })
  const asked: string[] = []
  const { text, refused } = fetcher([`net:127.0.0.1:${port}`], {
    refuse: async ({ resource }) => {
      asked.push(resource.kind === 'net' ? `${resource.host}:${resource.port}` : '')
      return refusal('denied', 'No rule allows it.', 'Ask for one.')
    },
  })
  expect(await text(`http://127.0.0.1:${port}/old`)).toBe(`http://127.0.0.1:${port}/new\n\nhere`)
  expect(await refused(`http://127.0.0.1:${port}/away`)).toMatchObject({
    code: 'address_refused',
    message: `http://127.0.0.1:${port}/away redirects to http://other.example/, which is refused: No rule allows it.`,
  })
  expect(asked).toEqual(['other.example:80'])
})

test("Reeve's own address is refused in every form, also where it is a public one", async () => {
  const own = {
    ownAddresses: () => [{ address: '93.184.216.34', port: 7070 }],
    names: { me: ['93.184.216.34'] },
  }
  const { refused } = fetcher(['net:me:7070'], own)
  for (const url of ['http://93.184.216.34:7070/', 'http://me:7070/', 'http://[::ffff:93.184.216.34]:7070/'])
    expect(await refused(url)).toMatchObject({
      code: 'address_refused',
      message: expect.stringContaining("Reeve's own"),
    })
})

test("a rule for every port of an address does not open Reeve's own port there, and a rule for that port does", async () => {
  const answer: RequestListener = (_, response) =>
    void response.writeHead(200, { 'content-type': 'text/plain' }).end('here')
  const [own, other] = [await serverWith(answer), await serverWith(answer)]
  const ownAddresses = () => [{ address: '127.0.0.1', port: own }]
  const wide = fetcher(['net:127.0.0.1'], { ownAddresses })
  expect(await wide.text(`http://127.0.0.1:${other}/`)).toContain('here')
  expect(await wide.refused(`http://127.0.0.1:${own}/`)).toMatchObject({
    code: 'address_refused',
    message: expect.stringContaining("Reeve's own"),
  })
  const exact = fetcher([`net:127.0.0.1:${own}`], { ownAddresses })
  expect(await exact.text(`http://127.0.0.1:${own}/`)).toContain('here')
})

test('a name is resolved once for a request: a second answer cannot change the address', async () => {
  const port = await serverWith(
    (_, response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end('one'),
  )
  let resolved = 0
  const { text } = fetcher([`net:127.0.0.1:${port}`], {
    resolve: async () => {
      resolved += 1
      return [{ address: resolved === 1 ? '127.0.0.1' : '127.0.0.9', family: 4 }]
    },
  })
  expect(await text(`http://changes.example:${port}/`)).toContain('one')
  expect(resolved).toBe(1)
})

test('HTML becomes text, and a long text comes in pages of one request', async () => {
  let asked = 0
  const html = `<html><head><title>Reeve &amp; co</title><style>p{}</style></head><body><h2>Start</h2>
    <p>Hello <b>you</b>,<br>go <a href="/next?a=1&amp;b=2">on</a>.</p><script>alert("<p>")</script>
    <ul><li>one<li>two</ul><pre>a  b\n  c</pre>${'<p>filler filler filler</p>'.repeat(2_000)}</body></html>`
  const port = await serverWith((_, response) => {
    asked += 1
    response
      .writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-encoding': 'gzip' })
      .end(gzipSync(html))
  })
  const { text } = fetcher([`net:127.0.0.1:${port}`])
  const url = `http://127.0.0.1:${port}/`
  const first = await text(url)
  expect(first).toContain(
    [
      '# Reeve & co',
      '',
      '## Start',
      '',
      'Hello you,',
      `go on (http://127.0.0.1:${port}/next?a=1&b=2).`,
      '',
      '- one',
      '- two',
      '',
      '```',
      'a  b',
      '  c',
      '```',
    ].join('\n'),
  )
  expect(first).not.toContain('alert')
  const next = Number(/go on with offset (\d+)\)$/.exec(first)?.[1])
  expect(await text(url, next)).toMatch(new RegExp(`\\(lines ${next} to `))
  expect(asked).toBe(1)
})

test('bounds: too much sent, too much after decompression, other types, broken answers, errors', async () => {
  const big = gzipSync(Buffer.alloc(20 * 1024 * 1024))
  const port = await serverWith((request, response) => {
    const plain = { 'content-type': 'text/plain' }
    if (request.url === '/sent') response.writeHead(200, plain).end(Buffer.alloc(6 * 1024 * 1024, 'a'))
    else if (request.url === '/bomb')
      response.writeHead(200, { ...plain, 'content-encoding': 'gzip' }).end(big)
    else if (request.url === '/zip') response.writeHead(200, { 'content-type': 'application/zip' }).end('PK')
    else if (request.url === '/cut') {
      response.writeHead(200, { ...plain, 'content-length': '100' })
      response.write('a', () => response.destroy())
    } else if (request.url === '/garbage')
      response.writeHead(200, { ...plain, 'content-encoding': 'gzip' }).end('no gzip')
    else if (request.url === '/png') response.writeHead(200, { 'content-type': 'image/png' }).end('png')
    else response.writeHead(404, plain).end('no such page')
  })
  const { refused, text, call } = fetcher([`net:127.0.0.1:${port}`])
  const url = (path: string) => `http://127.0.0.1:${port}${path}`
  expect(await refused(url('/sent'))).toMatchObject({ code: 'too_large' })
  expect(await refused(url('/bomb'))).toMatchObject({ code: 'too_large' })
  expect(await refused(url('/zip'))).toMatchObject({ code: 'not_text' })
  expect(await refused(url('/cut'))).toMatchObject({ code: 'fetch_failed' })
  expect(await refused(url('/garbage'))).toMatchObject({ code: 'fetch_failed' })
  expect((await call(url('/png'))).parts[1]).toEqual({ type: 'image', mediaType: 'image/png', data: 'cG5n' })
  expect(await text(url('/none'))).toBe(`${url('/none')} answered with status 404\n\nno such page`)
  expect(await refused('http://nowhere.example/')).toMatchObject({ code: 'fetch_failed' })
})

test('an aborted fetch ends with the reason of the abort', async () => {
  const reached = Promise.withResolvers<void>()
  const port = await serverWith(() => reached.resolve())
  const stop = new AbortController()
  const tool = webFetchTool({ isNamed: () => true, ownAddresses: () => [], refuse: async () => undefined })
  const fetched = callerOf([tool], stop.signal).call('web_fetch', { url: `http://127.0.0.1:${port}/` })
  await reached.promise
  stop.abort(new Error('enough'))
  await expect(fetched).rejects.toThrow('enough')
})
