import { appendFileSync, readFileSync, statSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client/connect.ts'
import { detach } from '../../src/daemon/detach.ts'
import { MAX_LOG_BYTES } from '../../src/daemon/log-rotation.ts'
import { until } from '../keeper/client.ts'
import { TempReeve } from '../temp-reeve.ts'
import { REEVE_UP } from './daemon-fixture.ts'

test('the log of a live daemon is rotated when it goes past its limit, and no line is lost', async () => {
  const temp = new TempReeve()
  const { home } = temp
  const env = { ...process.env, ...temp.env, REEVE_LOG_LEVEL: 'debug' }
  const { osPid } = await detach({ home: home.folder, env, args: ['--listen', 'off'], program: REEVE_UP })
  // Its last line at the start comes from standard output, which is the same file.
  await until('it has logged its start', () => readFileSync(home.log, 'utf8').includes('{"ready":null}\n'))
  const before = readFileSync(home.log, 'utf8')
  const filler = `${JSON.stringify({ filler: 'x'.repeat(1_000) })}\n`.repeat(Math.ceil(MAX_LOG_BYTES / 1_000))
  appendFileSync(home.log, filler)
  const reeve = await connect({ home: home.folder })
  onTestFinished(() => reeve.close())
  const asked = Array.from({ length: 20 }, (_, at) => `p_none${at}`)
  for (const pid of asked) await reeve.show({ pid }).catch(() => undefined)
  // The last answer is logged behind it.
  await until('all are logged', () => asked.every((pid) => readFileSync(home.log, 'utf8').includes(pid)))
  expect(readFileSync(`${home.log}.1`, 'utf8').startsWith(`${before}${filler}`)).toBe(true)
  const lines = readFileSync(home.log, 'utf8').trimEnd().split('\n')
  for (const line of lines) expect(() => JSON.parse(line)).not.toThrow()
  expect(temp.announced()).toMatchObject({ osPid })
  expect(statSync(`${home.log}.1`).mode & 0o077).toBe(0)
})
