import { describe, expect, test } from 'vitest'
import { TempReeve } from '../temp-reeve.ts'
import { type Asking, ask } from './ask.ts'

const MiB = 1024 * 1024

describe.each(['socket', 'tcp'])('over the %s door', (door) => {
  test('an invalid request gets a problem that says what would be valid', async () => {
    const daemon = await new TempReeve().up()
    const at = (what: string, asking: Asking = {}) =>
      ask(daemon, what, { ...(door === 'tcp' ? { token: daemon.token } : {}), ...asking })
    const cases: readonly [string, Asking, number, string][] = [
      ['POST /v1/processes', { raw: '{"kind":' }, 400, 'bad_request'],
      ['POST /v1/processes', { raw: '[]' }, 400, 'bad_request'],
      ['POST /v1/processes', { raw: '"text"' }, 400, 'bad_request'],
      ['POST /v1/processes', { raw: Buffer.from([0x22, 0xff, 0x22]) }, 400, 'bad_request'],
      ['POST /v1/processes', { raw: `${'['.repeat(90_000)}` }, 400, 'bad_request'],
      [
        'POST /v1/processes',
        { raw: `{"a":${'['.repeat(90_000)}${']'.repeat(90_000)}}` },
        422,
        'invalid_input',
      ],
      ['POST /v1/processes', { body: {} }, 422, 'invalid_input'],
      ['POST /v1/processes', { body: { kind: 'tool', spec: { tool: 'x' }, more: 1 } }, 422, 'invalid_input'],
      ['GET /v1/processes?colour=red', {}, 422, 'invalid_input'],
      ['GET /v1/processes?limit=-1', {}, 422, 'invalid_input'],
      ['GET /v1/processes?filter={', {}, 422, 'invalid_input'],
      ['GET /v1/processes/p_nope', {}, 404, 'unknown_pid'],
      ['GET /v1/nowhere', {}, 404, 'not_found'],
      ['GET /v2/processes', {}, 404, 'not_found'],
      ['GET /', {}, 404, 'not_found'],
      ['DELETE /v1/processes', {}, 405, 'method_not_allowed'],
      ['PATCH /v1/status', {}, 405, 'method_not_allowed'],
      ['OPTIONS /v1/status', {}, 405, 'method_not_allowed'],
      ['POST /v1/changes/stream', { body: {} }, 405, 'method_not_allowed'],
      ['GET /v1/changes/stream?offset=7', {}, 400, 'bad_request'],
      ['GET /v1/changes/stream?offset=9999999999999999', {}, 400, 'bad_request'],
      ['GET /v1/changes/stream?live=sse', {}, 400, 'bad_request'],
      ['GET /v1/changes/stream?offset=-1&live=often', {}, 400, 'bad_request'],
      ['GET /v1/changes/stream?filter=%7B', {}, 400, 'bad_request'],
      ['GET /v1/processes/p_nope/terminal', {}, 400, 'bad_request'],
      ...['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1'].map(
        (type) =>
          [
            'POST /v1/processes',
            { raw: '{}', headers: { 'content-type': type } },
            415,
            'unsupported_media_type',
          ] as [string, Asking, number, string],
      ),
      [
        'POST /v1/processes',
        { raw: '{}', headers: { 'content-encoding': 'gzip' } },
        415,
        'unsupported_media_type',
      ],
    ]
    for (const [what, asking, status, code] of cases) {
      const said = await at(what, asking)
      expect([what, said.status, said.json.code]).toEqual([what, status, code])
      expect(said.headers['content-type']).toBe('application/problem+json')
      expect(said.json).toMatchObject({ type: `urn:reeve:error:${code}`, status })
      for (const words of [said.json.title, said.json.detail, said.json.remedy]) expect(words).toMatch(/\w/)
    }
    expect((await at('PATCH /v1/processes')).headers.allow).toBe('GET, HEAD, POST')
  })

  test('paths are not normalised', async () => {
    const daemon = await new TempReeve().up()
    const door2 = door === 'tcp' ? { token: daemon.token } : {}
    for (const path of [
      '/v1/processes/..%2f..%2fetc%2fpasswd',
      '/v1/processes/%2e%2e/status',
      '/v1/../../etc/passwd',
      '/v1//status',
      '/v1/processes/%00',
      '/v1/processes/%zz',
      '/v1/processes/%ff',
      '/v1/status/',
      '//evil.example/v1/status',
      '/v1/processes/a%0d%0aSet-Cookie:x',
    ]) {
      const said = await ask(daemon, `GET ${path}`, door2)
      expect([path, said.status]).toEqual([
        path,
        expect.toSatisfy((status) => [400, 404, 422].includes(status)),
      ])
      expect(said.headers['content-type']).toBe('application/problem+json')
    }
  })

  test('a body over the limit is refused, with and without a content length', async () => {
    const daemon = await new TempReeve().up()
    const door2 = door === 'tcp' ? { token: daemon.token } : {}
    const large = JSON.stringify({ kind: 'tool', spec: { tool: 'x', input: 'a'.repeat(5 * MiB) } })
    const said = await ask(daemon, 'POST /v1/processes', { ...door2, raw: large })
    expect(said).toMatchObject({ status: 413, json: { code: 'body_too_large' } })
    const chunked = await ask(daemon, 'POST /v1/processes', {
      ...door2,
      raw: large,
      headers: { 'transfer-encoding': 'chunked' },
    })
    expect(chunked).toMatchObject({ status: 413, json: { code: 'body_too_large' } })
    expect((await ask(daemon, 'GET /healthz', door2)).status).toBe(200)
  })
})
