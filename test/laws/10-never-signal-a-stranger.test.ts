import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { ownIdentity, proveByPid } from '../../src/embed/identity.ts'

const row = (change: Partial<ReturnType<typeof ownIdentity>> = {}) => ({
  ...ownIdentity(),
  renewedAt: 0,
  expired: false,
  ...change,
})

test('a holder is recognised by boot, PID namespace, PID and start time together', () => {
  const own = row()
  expect(own.boot).toMatch(/^[0-9a-f-]{36}$/)
  expect(own.startTime).toMatch(/^[0-9]+$/)
  expect(own.pidNamespace).toMatch(/^pid:\[[0-9]+\]$/)
  expect(proveByPid(own)).toBe('alive')
})

test('the same PID with another start time is a stranger', () => {
  expect(proveByPid(row({ startTime: '1' }))).toBe('dead')
})

test('a PID of another boot or another namespace proves nothing', () => {
  expect(proveByPid(row({ boot: '00000000-0000-0000-0000-000000000000' }))).toBe('unknown')
  expect(proveByPid(row({ boot: '' }))).toBe('unknown')
  expect(proveByPid(row({ pidNamespace: 'pid:[1]' }))).toBe('unknown')
  expect(proveByPid(row({ startTime: '' }))).toBe('unknown')
})

test('a program that has ended is dead, and so is a zombie', async () => {
  const program = spawn(process.execPath, ['-e', 'process.stdin.resume()'], {
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  await once(program, 'spawn')
  const osPid = program.pid ?? 0
  expect(proveByPid(row({ osPid, startTime: '1' }))).toBe('dead')
  program.kill('SIGKILL')
  await once(program, 'exit')
  expect(proveByPid(row({ osPid }))).toBe('dead')
})

test('two incarnations in one OS process are two holders', () => {
  expect(ownIdentity().id).not.toBe(ownIdentity().id)
})
