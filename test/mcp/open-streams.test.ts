import { expect, onTestFinished, test, vi } from 'vitest'
import { Sessions } from '../../src/mcp/client.ts'
import { OpenStreams } from '../../src/mcp/open-streams.ts'
import { sessionIdOf } from '../../src/mcp/session-id.ts'
import { embedTemp } from '../embed-temp.ts'

test('a client with several streams is present until the last one closes', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  let touches = 0
  const touch = async () => {
    touches += 1
  }
  const located = () => Promise.resolve({ session: { touch } })
  const openStreams = new OpenStreams()
  const leaveStream = openStreams.track(located)
  openStreams.track(located)()
  await vi.advanceTimersByTimeAsync(30_000)
  expect(touches).toBe(1)
  leaveStream()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(touches).toBe(1)
  openStreams.close()
})

test('a named session and a derived session are different objects, even with the same id', async () => {
  const reeve = await embedTemp()
  const sessions = new Sessions(reeve)
  const derived = sessions.derived('agent', 'folder', null)
  const named = sessions.named(sessionIdOf('agent', 'folder'))
  expect(named).not.toBe(derived)
  expect(sessions.derived('agent', 'folder', null)).toBe(derived)
  expect(sessions.named(sessionIdOf('agent', 'folder'))).toBe(named)
})

test('a session that is found by one of its processes is reopened under its former label', async () => {
  const reeve = await embedTemp()
  const spec = { description: 'x' }
  const { record } = await new Sessions(reeve)
    .derived('agent', '/work', '/work')
    .change((acting) => acting.spawn({ kind: 'external', spec, lifetime: 'detached' }))
  const owner = await new Sessions(reeve).ownerOf(record.pid)
  const first = record.owner.session ?? ''
  await reeve.endSession({ session: first })
  const next = await owner?.change(async (_, session) => session)
  expect(next).not.toBe(first)
  const { sessions } = await reeve.sessions()
  expect(sessions.find(({ id }) => id === next)).toMatchObject({ label: 'agent in /work' })
})
