import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { start } from '../command/commands.ts'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'
import { invented } from './corpus.ts'
import { expectNoSecrets } from './expect-no-secrets.ts'

describe('a secret that Reeve was given', () => {
  test('as a variable to pass on is masked where it is printed, also after the daemon was replaced', async () => {
    await using temp = new TempReeve()
    process.env['REEVE_TEST_PLAIN'] = 'a value without any shape'
    try {
      const reeve = await temp.embed()
      const { pid } = await start(reeve, { run: 'echo "<$REEVE_TEST_PLAIN>"', passEnv: ['REEVE_TEST_PLAIN'] })
      await reeve.wait({ pid })
      const masked = `<${'*'.repeat(25)}>\n`
      expect((await reeve.poll({ pid })).text).toBe(masked)
      await reeve.close()
      const next = await temp.embed()
      expect((await next.poll({ pid, cursor: 'o0' })).text).toBe(masked)
    } finally {
      delete process.env['REEVE_TEST_PLAIN']
    }
  })

  test('as a variable to pass on, or by an environment, is masked in the command line, too', async () => {
    await using temp = new TempReeve()
    process.env['REEVE_TEST_PLAIN'] = 'a-value-without-any-shape'
    try {
      const reeve = await temp.embed()
      const { envRef } = await reeve.putEnvironment({
        variables: { OTHER: { secret: 'REEVE_TEST_PLAIN' } },
        policy: {},
        options: {},
      })
      const run = 'echo a-value-without-any-shape; exit 2'
      for (const asked of [
        { spec: { run, passEnv: ['REEVE_TEST_PLAIN'] }, name: 'a-value-without-any-shape' },
        { spec: { run }, envRef },
      ]) {
        const spawned = await reeve.spawn({ kind: 'command', ...asked })
        const { pid } = spawned.record
        const answers = {
          spawned,
          waited: await reeve.wait({ pid }),
          show: await reeve.show({ pid }),
          list: await reeve.list({ filter: { status: 'any' } }),
          events: await reeve.events({ pid }),
          log: await reeve.log({ pid }),
        }
        for (const [what, answer] of Object.entries(answers))
          expectNoSecrets(what, answer, { secrets: ['a-value-without-any-shape'] })
      }
      const [first] = (await reeve.list({ filter: { status: 'any' } })).processes
      const other = { kind: 'command', spec: { run: 'true' }, pid: first?.record.pid ?? '' } as const
      const conflict = await reeve.spawn(other).catch((error: unknown) => error)
      expect(conflict).toMatchObject({ code: 'conflict' })
      expectNoSecrets('conflict', [String(conflict), conflict], { secrets: ['a-value-without-any-shape'] })
    } finally {
      delete process.env['REEVE_TEST_PLAIN']
    }
  })

  test('as values and patterns of its own is masked, and nothing where masking is off', async () => {
    await using temp = new TempReeve()
    const text = `ACME-123456 swordfish-1 ghp_${invented('off', 36)}`
    const file = join(tempFolder(), 'text')
    writeFileSync(file, text)
    const redact = { values: ['swordfish-1'], patterns: ['ACME-[0-9]+'] }
    const reeve = await temp.embed({}, { redact })
    const { pid } = await start(reeve, `cat ${file}`)
    await reeve.wait({ pid })
    expect((await reeve.poll({ pid })).text).toBe(`${'*'.repeat(11)} ${'*'.repeat(11)} ghp_${'*'.repeat(36)}`)
    await reeve.close()
    const open = await temp.embed({}, { redact: false })
    expect((await open.poll({ pid, cursor: 'o0' })).text).toBe(text)
  })

  test('as an invalid pattern is refused at the start', async () => {
    await expect(new TempReeve().up({ flags: { redactPatterns: '(?<=x)y' } })).rejects.toMatchObject({
      code: 'bad_configuration',
      details: { key: 'redactPatterns' },
    })
    await using temp = new TempReeve()
    await expect(temp.embed({}, { redact: { patterns: ['(?<=x)y'] } })).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('redact.patterns'),
    })
  })
})
