import { expect, onTestFinished, test } from 'vitest'
import { ended, runs, TempReeve } from './commands.ts'

const CANARY = 'canary-93ab41fe0c7d2586'

function named(variables: Record<string, { secret: string }>) {
  return { variables, policy: {}, options: {} }
}

test('a command is given the secret that its environment names, and its output is shown with the value masked', async () => {
  await using temp = new TempReeve()
  const values: Record<string, string> = { npm: CANARY }
  const reeve = await temp.embed({}, { secrets: { read: () => values } })
  const { envRef } = await reeve.putEnvironment(named({ TOKEN: { secret: 'npm' } }))
  const shown = await runs(reeve, { run: 'printf %s "$TOKEN" | wc -c; echo $TOKEN' }, { envRef })
  expect(shown.text).toBe(`${CANARY.length}\n${'*'.repeat(CANARY.length)}\n`)
  // A secret that is set later is masked in the output of every command, even without a reference to it.
  values['later'] = 'another-canary-77d1'
  expect((await runs(reeve, { run: 'echo another-canary-77d1' })).text).toBe(`${'*'.repeat(19)}\n`)
})

test('a command that names a missing secret does not run, and its error names the secret and a remedy', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed({}, { secrets: { read: () => ({}) } })
  const { envRef } = await reeve.putEnvironment(named({ TOKEN: { secret: 'npm' } }))
  const { record } = await reeve.spawn({
    kind: 'command',
    spec: { run: `touch ${temp.folder}/ran` },
    envRef,
  })
  const { outcome } = await ended(reeve, record.pid)
  expect(outcome).toMatchObject({
    status: 'failed',
    reason: 'failed_start',
    result: {
      message: 'The secret npm is not set.',
      remedy: 'Run reeve secret set npm, and start it again.',
    },
  })
  expect((await runs(reeve, { run: `ls ${temp.folder}` })).text.split('\n')).not.toContain('ran')
})

test('an empty variable of the daemon is no secret, and secrets of the home come before its variables', async () => {
  process.env['REEVE_TEST_EMPTY'] = ''
  process.env['REEVE_TEST_BOTH'] = 'of the daemon'
  onTestFinished(() => {
    delete process.env['REEVE_TEST_EMPTY']
    delete process.env['REEVE_TEST_BOTH']
  })
  await using temp = new TempReeve()
  const reeve = await temp.embed(
    {},
    { redact: false, secrets: { read: () => ({ REEVE_TEST_BOTH: 'of the home' }) } },
  )
  const both = await reeve.putEnvironment(
    named({ A: { secret: 'REEVE_TEST_BOTH' }, B: { secret: 'env:REEVE_TEST_BOTH' } }),
  )
  expect((await runs(reeve, { run: 'echo "$A, $B"' }, both)).text).toBe('of the home, of the daemon\n')
  const empty = await reeve.putEnvironment(named({ A: { secret: 'REEVE_TEST_EMPTY' } }))
  const { record } = await reeve.spawn({ kind: 'command', spec: { run: 'true' }, ...empty })
  const { outcome } = await ended(reeve, record.pid)
  expect(outcome).toMatchObject({
    result: { message: 'The secret REEVE_TEST_EMPTY is not set.' },
  })
})
