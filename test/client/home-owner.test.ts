import { once } from 'node:events'
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, ReeveError } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { down } from '../../src/daemon/down.ts'
import { NEEDS_ROOT, testIf } from '../reporting/test-if.ts'

const NOBODY = 65_534

/** A home in which a program listens on the daemon's socket and counts who connects. */
async function homeWithListener() {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-home-'))
  const socket = join(folder, 'reeve.sock')
  let connections = 0
  const server = createServer((client) => {
    connections++
    client.on('error', () => undefined)
    client.end('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}', () => client.destroy())
  })
  server.listen(socket)
  await once(server, 'listening')
  onTestFinished(async () => {
    server.close()
    await once(server, 'close')
    rmSync(folder, { recursive: true, force: true })
  })
  return { folder, socket, connections: () => connections }
}

async function refusal(asked: Promise<unknown>): Promise<ReeveError> {
  const error = await asked.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (error instanceof ReeveError) return error
  throw new Error('It was not refused', { cause: error })
}

test.for(['0777', '0770'])('a client does not talk to a daemon whose home has mode %s', async (mode) => {
  const { folder, connections } = await homeWithListener()
  chmodSync(folder, Number.parseInt(mode, 8))
  const error = await refusal(connect({ home: folder }))
  expect(error).toMatchObject({ code: 'home_unusable', message: expect.stringContaining('may write there') })
  expect(error.remedy).toContain('chmod 700')
  expect(connections()).toBe(0)
})

test('a client talks to a socket of its own user in a folder like /tmp', async () => {
  const { folder, connections } = await homeWithListener()
  chmodSync(folder, 0o1777)
  await connect({ home: folder }).catch(() => undefined)
  expect(connections()).toBeGreaterThan(0)
})

test('the daemon that a home names is not signalled if others may write there', async () => {
  const { folder } = await homeWithListener()
  writeFileSync(join(folder, 'daemon.json'), JSON.stringify({ osPid: process.pid }))
  chmodSync(folder, 0o777)
  expect(await refusal(down({ home: folder }))).toMatchObject({ code: 'home_unusable' })
})

// Only root can give a file to another user.
testIf(process.getuid?.() === 0, NEEDS_ROOT)(
  'a client does not talk to a socket or home of another user',
  async () => {
    const { folder, socket, connections } = await homeWithListener()
    chownSync(socket, NOBODY, NOBODY)
    const foreignSocket = await refusal(connect({ home: folder }))
    expect(foreignSocket).toMatchObject({ code: 'home_unusable', details: { path: socket } })
    chownSync(socket, 0, 0)
    chownSync(folder, NOBODY, NOBODY)
    const foreignHome = await refusal(connect({ home: folder }))
    expect(foreignHome).toMatchObject({ code: 'home_unusable', details: { path: folder } })
    expect(foreignHome.message).toContain('belongs to another user')
    expect(connections()).toBe(0)
  },
)
