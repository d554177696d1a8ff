import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { whileUp } from '../../src/command/keeper-answer.ts'
import { KeeperRefused } from '../../src/command/keeper-link.ts'
import { until } from '../keeper/client.ts'
import { codeOf, runs, start, TempReeve } from './commands.ts'

test('input and signals are refused until the program has begun, and work afterwards', async () => {
  await using temp = new TempReeve()
  const [go, shell] = [join(temp.folder, 'go'), join(temp.folder, 'slow-shell')]
  writeFileSync(shell, `#!/bin/sh\nwhile [ ! -e ${go} ]; do sleep 0.02; done\nexec /bin/sh "$@"\n`)
  chmodSync(shell, 0o700)
  const reeve = await temp.embed({ environment: 'login', shell })
  const starting = start(reeve, { argv: ['cat'], stdin: 'pipe' }, { name: 'slow' })
  await until('it is registered', async () => (await reeve.list()).processes.length === 1)
  expect(await codeOf(reeve.write({ pid: 'slow', text: 'x' }))).toBe('not_begun')
  expect(await codeOf(reeve.closeInput({ pid: 'slow' }))).toBe('not_begun')
  expect(await codeOf(reeve.signal({ pid: 'slow', signal: 'SIGCONT' }))).toBe('not_begun')
  writeFileSync(go, '')
  const { pid } = await starting
  expect((await reeve.write({ pid, text: 'x' })).type).toBe('written')
})

test('a refusal of the keeper has a documented code', async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const record = await start(reeve, { argv: ['sleep', '1000'] })
  const said = (code: 'unknown_pid' | 'failed' | 'bad_ask') =>
    Promise.reject(new KeeperRefused({ code, message: 'No.' }))
  expect(await codeOf(whileUp(record, said('unknown_pid')))).toBe('already_ended')
  expect(await codeOf(whileUp(record, said('failed')))).toBe('keeper_unavailable')
  expect(await codeOf(whileUp(record, said('bad_ask')))).toBe('keeper_unavailable')
  // The record that a caller has may be older than the end.
  await expect(whileUp(record, said('unknown_pid'))).rejects.toThrow(`${record.pid} has ended.`)
  const { pid } = await runs(reeve, 'exit 3')
  await expect(reeve.submit({ pid, text: 'x' })).rejects.toMatchObject({
    code: 'already_ended',
    message: `${pid} has ended (failed).`,
    remedy: expect.stringMatching(/restart/),
  })
})
