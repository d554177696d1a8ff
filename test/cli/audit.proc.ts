import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { AUDIT_DECISIONS } from '../../src/core/audit/entry.ts'
import { CommandLine } from './command-line.ts'

test('a reveal is listed, filters select entries, and verify finds a changed one', async () => {
  const reeve = new CommandLine()
  expect(await reeve.run(['audit', 'verify'])).toMatchObject({
    code: 0,
    stdout: 'The audit is sound: 0 entries, and no anchors to compare.\n',
  })
  expect((await reeve.run(['run', '--name', 'job', '--', 'echo', 'done'])).code).toBe(0)
  const { pid } = await reeve.json<{ pid: string }>('show', 'job')
  expect((await reeve.run(['logs', '--reveal', 'job'])).stdout).toBe('done\n')
  const table = (await reeve.run(['audit'])).stdout
  expect(table).toMatch(/^POSITION +TIME +ACTOR +DECISION +ACTION +TARGET +WHY\n/)
  expect(table).toMatch(new RegExp(`\\n1 +\\S+ \\S+ +host +revealed +reveal +process:${pid} +verb \\w+\\n`))

  expect((await reeve.run(['show', 'job', '--reveal', '--as', 'session:s1'])).code).not.toBe(0)
  const listed = async (...options: string[]) =>
    (await reeve.json<{ actor: string; decision: string }[]>('audit', ...options)).map(
      ({ actor, decision }) => `${actor} ${decision}`,
    )
  expect(await listed()).toEqual(['session:s1 denied', 'host revealed'])
  expect(await listed('--actor', 'host')).toEqual(['host revealed'])
  expect(await listed('--target', `process:${pid}`)).toEqual(['host revealed'])
  expect(await listed('--decision', 'denied')).toEqual(['session:s1 denied'])
  expect(await listed('--since', '1h', '-n', '1')).toEqual(['session:s1 denied'])
  expect((await reeve.run(['audit', '-n', '1'])).stderr).toContain('-n shows more')

  await expect
    .poll(() => readFileSync(reeve.temp.home.auditAnchors, 'utf8').trimEnd().split('\n').at(-1))
    .toContain('"position":2')
  expect((await reeve.run(['audit', 'verify'])).stdout).toMatch(
    /^The audit is sound: 2 entries, and \d anchors? in the home\.\n$/,
  )
  const db = new DatabaseSync(reeve.temp.home.store, { timeout: 10_000 })
  db.exec(`update audit set body = replace(body, '"revealed"', '"revealee"')`)
  db.close()
  const broken = await reeve.run(['audit', 'verify'])
  expect(broken).toMatchObject({ code: 1, stdout: '' })
  expect(broken.stderr).toContain('broken from entry 1 on (changed)')
  const said = await reeve.run(['audit', 'verify', '--json'])
  expect(said.code).toBe(1)
  expect(JSON.parse(said.stdout)).toMatchObject({ type: 'broken', from: 1, reason: 'changed' })
})

test('the help names every decision', async () => {
  const { stdout } = await new CommandLine().run(['audit', '--help'])
  for (const decision of AUDIT_DECISIONS) expect(stdout).toContain(decision)
})

test('wrong words and other actors are refused', async () => {
  const reeve = new CommandLine()
  for (const words of [
    ['verfy'],
    ['verify', 'now'],
    ['verify', '--actor', 'host'],
    ['--decision', 'no'],
    ['--since', 'x'],
  ])
    expect((await reeve.run(['audit', ...words])).code, words.join(' ')).toBe(2)
  expect((await reeve.run(['audit', '--as', 'session:s1'])).code).toBe(4)
  expect((await reeve.run(['audit', 'verify', '--as', 'session:s1'])).code).toBe(4)
})

test('prune removes the oldest entries, and verify says so', async () => {
  const reeve = new CommandLine()
  for (const name of ['a', 'b', 'c']) {
    await reeve.run(['run', '--name', name, '--', 'echo', name])
    await reeve.run(['logs', '--reveal', name])
  }
  expect(await reeve.run(['audit', 'prune', '--keep', '1'])).toMatchObject({
    code: 0,
    stdout: 'Removed 2 entries of the audit.\n',
  })
  expect((await reeve.run(['audit', 'verify'])).stdout).toContain(
    'The audit is sound: 2 entries after the 2 that retention removed',
  )
  expect((await reeve.run(['audit', 'prune', '--older-than', '90d'])).stdout).toBe(
    'Removed 0 entries of the audit.\n',
  )
  for (const [args, said] of [
    [['audit', 'prune'], '--older-than or --keep'],
    [['audit', 'prune', '--keep', '1', '--actor', 'host'], '--actor'],
    [['audit', 'verify', '--keep', '1'], '--keep'],
    [['audit', '--keep', '1'], '--keep'],
  ] as const) {
    const refused = await reeve.run([...args])
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain(said)
  }
})
