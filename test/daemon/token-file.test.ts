import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { adminToken, TokenFile } from '../../src/daemon/token-file.ts'
import { homePaths } from '../../src/home/paths.ts'
import { findToken } from '../../src/server/tokens.ts'
import { tempFolder } from '../temp-folder.ts'

test('a token is found by its text and kept as a hash, until it is revoked', () => {
  const home = homePaths(tempFolder())
  const file = new TokenFile(home)
  const { token, kept } = file.create({ role: 'agent', session: 's1', label: 'for the night' })
  expect(findToken(file, token)).toEqual(kept)
  expect(JSON.stringify(file.all())).not.toContain(token)
  expect(statSync(home.tokens).mode & 0o777).toBe(0o600)
  expect(findToken(file, `${token}x`)).toBeUndefined()
  expect(file.revoke(kept.id)).toBe(true)
  expect(file.revoke(kept.id)).toBe(false)
  expect(findToken(file, token)).toBeUndefined()
})

test('a change by one program is visible to the other at once', () => {
  const home = homePaths(tempFolder())
  const daemon = new TokenFile(home)
  const { token, kept } = new TokenFile(home).create({ role: 'read' })
  expect(findToken(daemon, token)?.id).toBe(kept.id)
  new TokenFile(home).revoke(kept.id)
  expect(findToken(daemon, token)).toBeUndefined()
})

test('a damaged file changes no rights, is reported once, and is not overwritten', () => {
  const home = homePaths(tempFolder())
  const troubles: unknown[] = []
  const daemon = new TokenFile(home, (error) => troubles.push(error))
  const { token, kept } = new TokenFile(home).create({ role: 'read' })
  expect(findToken(daemon, token)?.id).toBe(kept.id)
  writeFileSync(home.tokens, '[{')
  for (let i = 0; i < 3; i++) expect(findToken(daemon, token)?.id).toBe(kept.id)
  expect(troubles).toEqual([expect.objectContaining({ code: 'bad_configuration' })])
  expect(() => daemon.create({ role: 'read' })).toThrow(/does not contain tokens/)
  expect(readFileSync(home.tokens, 'utf8')).toBe('[{')
})

test('an agent token needs a session, and no other may have one', () => {
  const file = new TokenFile(homePaths(tempFolder()))
  expect(() => file.create({ role: 'agent' })).toThrow(/belongs to a session/)
  expect(() => file.create({ role: 'admin', session: 's1' })).toThrow(/belongs to a session/)
})

test('a token may name a person, and only an agent token with one has an approver', () => {
  const file = new TokenFile(homePaths(tempFolder()))
  const agent = { role: 'agent', session: 's1' } as const
  expect(file.create({ role: 'operate', person: 'ada' }).kept).toMatchObject({ person: 'ada' })
  expect(file.create({ ...agent, person: 'ada', approver: true }).kept).toMatchObject({ approver: true })
  for (const person of ['', 'host', 'a b', 'human:ada', '-x', 'a/b', 'a\n', 'x'.repeat(65)])
    expect(() => file.create({ role: 'operate', person }), person).toThrow(/must be a name/)
  expect(() => file.create({ ...agent, approver: true })).toThrow(/with a person/)
  expect(() => file.create({ role: 'operate', person: 'ada', approver: true })).toThrow(/with a person/)
})

test('the admin token of a home stays the same, and is created again when it is unknown', () => {
  const home = homePaths(tempFolder())
  const first = adminToken(home, new TokenFile(home))
  expect(adminToken(home, new TokenFile(home))).toBe(first)
  const file = new TokenFile(home)
  file.revoke(file.all()[0]?.id ?? '')
  expect(adminToken(home, file)).not.toBe(first)
})

test('no token is lost when several programs add tokens at once', async () => {
  const home = homePaths(tempFolder())
  const source = `
    import { TokenFile } from ${JSON.stringify(new URL('../../src/daemon/token-file.ts', import.meta.url).href)}
    const file = new TokenFile(${JSON.stringify(home)})
    for (let i = 0; i < 20; i++) file.create({ role: 'read' })
  `
  const workers = [1, 2, 3].map(
    () => new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`)),
  )
  await Promise.all(workers.map((worker) => new Promise((resolve) => worker.once('exit', resolve))))
  expect(new TokenFile(home).all()).toHaveLength(60)
})
