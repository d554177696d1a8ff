import { expect, test } from 'vitest'
import { TempReeve } from '../../temp-reeve.ts'
import { HttpFixture } from './http-fixture.ts'
import { McpHarness, textOf } from './mcp-harness.ts'
import { OAuthFixture } from './oauth-fixture.ts'

test.for([false, true])('a server over HTTP, older revision only: %s', async (legacyOnly) => {
  await using temp = new TempReeve()
  const fixture = await HttpFixture.listen({ token: 'key-1', legacyOnly })
  const harness = await McpHarness.open(temp, { secrets: { KEY: 'key-1', TEAM: 'blue' } })
  const agent = await harness.agent({
    web: {
      type: 'http',
      url: fixture.url,
      headers: { 'x-team': { secret: 'TEAM' } },
      auth: { type: 'bearer', token: { secret: 'KEY' } },
      timeoutMs: 2_000,
    },
  })
  expect((await harness.tools(agent)).map(({ name, recovery }) => [name, recovery])).toEqual(
    ['hang', 'hello', 'huge'].map((name) => [`mcp__web__${name}`, 'bound']),
  )
  expect(textOf(await harness.call(agent, 'mcp__web__hello'))).toBe('hello')
  expect(fixture.asked.at(-1)).toMatchObject({ authorization: 'Bearer key-1', header: 'blue' })
  expect(textOf(await harness.call(agent, 'mcp__web__huge'))).toMatch(
    /^mcp_(error|unavailable|interrupted): /,
  )
  expect(textOf(await harness.call(agent, 'mcp__web__hang'))).toMatch(/^mcp_interrupted: .* within 2 s/)
  expect(textOf(await harness.call(agent, 'mcp__web__hello'))).toBe('hello')
  expect(harness.alerts).toEqual([])
})

test('OAuth client credentials are exchanged for a token, and again when the server does not take it any more', async () => {
  await using temp = new TempReeve()
  const oauth = await OAuthFixture.listen({ id: 'reeve', secret: 'client-secret' })
  const fixture = await HttpFixture.listen({ oauth })
  const harness = await McpHarness.open(temp, { secrets: { CLIENT: 'client-secret' } })
  const auth = {
    type: 'oauth',
    issuer: oauth.issuer,
    clientId: 'reeve',
    clientSecret: { secret: 'CLIENT' },
    scope: 'tools',
  } as const
  const agent = await harness.agent({ web: { type: 'http', url: fixture.url, auth } })
  expect(textOf(await harness.call(agent, 'mcp__web__hello'))).toBe('hello')
  expect(oauth.asked).toMatchObject([{ form: { grant_type: 'client_credentials', scope: 'tools' } }])
  expect(oauth.asked[0]?.form['resource']).toBe(fixture.url)
  oauth.revoke()
  expect(textOf(await harness.call(agent, 'mcp__web__hello'))).toBe('hello')
  expect(oauth.asked).toHaveLength(2)
  expect(harness.alerts).toEqual([])
})

test('credentials that the authorization server refuses give no tools, and an alert', async () => {
  await using temp = new TempReeve()
  const oauth = await OAuthFixture.listen({ id: 'reeve', secret: 'another' })
  const fixture = await HttpFixture.listen({ oauth })
  const harness = await McpHarness.open(temp, { secrets: { CLIENT: 'client-secret' }, startMs: 10_000 })
  const auth = {
    type: 'oauth',
    issuer: oauth.issuer,
    clientId: 'reeve',
    clientSecret: { secret: 'CLIENT' },
  } as const
  const agent = await harness.agent({ web: { type: 'http', url: fixture.url, auth } })
  expect(await harness.tools(agent)).toEqual([])
  expect(harness.alerts.map(({ server, code }) => [server, code])).toEqual([
    ['web', 'mcp_server_unavailable'],
  ])
  expect(JSON.stringify(harness.alerts)).not.toContain('client-secret')
})

test('a session that the server has forgotten begins again', async () => {
  await using temp = new TempReeve()
  const fixture = await HttpFixture.listen({ legacyOnly: true })
  const harness = await McpHarness.open(temp)
  const agent = await harness.agent({ web: { type: 'http', url: fixture.url } })
  expect(textOf(await harness.call(agent, 'mcp__web__hello'))).toBe('hello')
  fixture.forgetSessions()
  expect(textOf(await harness.call(agent, 'mcp__web__hello'))).toBe('hello')
})

test('a server that cannot be reached, or refuses the token, gives no tools, and an alert', async () => {
  await using temp = new TempReeve()
  const fixture = await HttpFixture.listen({ token: 'key-1' })
  const harness = await McpHarness.open(temp, { startMs: 10_000 })
  const agent = await harness.agent({
    web: { type: 'http', url: fixture.url },
    nowhere: { type: 'http', url: 'http://127.0.0.1:9/mcp' },
  })
  expect(await harness.tools(agent)).toEqual([])
  expect(harness.alerts.map(({ server, code }) => [server, code]).sort()).toEqual([
    ['nowhere', 'mcp_server_unavailable'],
    ['web', 'mcp_server_unavailable'],
  ])
  expect(harness.alerts.find(({ server }) => server === 'web')?.message).toMatch(/wants authorization/)
})

test('an agent that a session started may not name secrets', async () => {
  await using temp = new TempReeve()
  const fixture = await HttpFixture.listen()
  const harness = await McpHarness.open(temp, { secrets: { KEY: 'key-1' } })
  await harness.reeve.openSession({ session: 's1' })
  const { record } = await harness.reeve.as('session:s1').spawn({
    kind: 'agent',
    spec: {
      agent: 'tester',
      mcpServers: {
        web: { type: 'http', url: fixture.url, auth: { type: 'bearer', token: { secret: 'KEY' } } },
      },
    },
  })
  expect(await harness.tools(record)).toEqual([])
  expect(harness.alerts[0]?.message).toMatch(/name secrets, and session:s1 started it/)
  expect(fixture.asked).toEqual([])
})
