import type { Reeve } from 'reeve'
import { expect, test } from 'vitest'
import { endIdleSessions, type GraceClock, idleSessions } from '../../src/mcp/session-grace.ts'
import { embedTemp } from '../embed-temp.ts'

const HOUR = 3_600_000

async function opened(): Promise<Reeve> {
  const reeve = await embedTemp()
  for (const session of ['mcp-a', 'mcp-b', 'other']) await reeve.openSession({ session })
  return reeve
}

test('only MCP sessions without a touch for the grace are idle', async () => {
  const reeve = await opened()
  const now = Date.now()
  expect(await idleSessions(reeve, { graceMs: HOUR, now })).toEqual([])
  const idle = await idleSessions(reeve, { graceMs: HOUR, now: now + HOUR + 1_000 })
  expect(idle.map(({ id }) => id)).toEqual(['mcp-a', 'mcp-b'])
  await reeve.endSession({ session: 'mcp-a' })
  const left = await idleSessions(reeve, { graceMs: HOUR, now: now + HOUR + 1_000 })
  expect(left.map(({ id }) => id)).toEqual(['mcp-b'])
  // A daemon that has just started may not have seen them yet.
  expect(
    await idleSessions(reeve, { graceMs: HOUR, now: now + 5 * HOUR, listeningSince: now + 5 * HOUR }),
  ).toEqual([])
})

test('sessions end after the grace, and time without a daemon does not count', async () => {
  const reeve = await opened()
  const clock = handClock()
  const grace = endIdleSessions(reeve, { graceMs: HOUR, clock })
  const ended = async () =>
    (await reeve.sessions()).sessions.filter(({ endedAt }) => endedAt !== null).map(({ id }) => id)
  const look = async () => {
    clock.tick()
    await grace.settled()
  }
  for (let minute = 0; minute < 59; minute++) {
    clock.advance(60_000)
    await look()
  }
  expect(await ended()).toEqual([])
  // The machine was suspended for two hours, and so were its clients.
  clock.advance(2 * HOUR)
  await look()
  expect(await ended()).toEqual([])
  for (let minute = 0; minute < 61; minute++) {
    clock.advance(60_000)
    await look()
  }
  expect(await ended()).toEqual(['mcp-a', 'mcp-b'])
  await grace.close()
})

test('a session that waits for a person does not end, and has the whole grace again after the answer', async () => {
  const reeve = await opened()
  const clock = handClock()
  const { approval } = await reeve.as('session:mcp-a').ask({ question: 'Ship it?' })
  const grace = endIdleSessions(reeve, { graceMs: HOUR, clock })
  const pass = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute++) {
      clock.advance(60_000)
      clock.tick()
      await grace.settled()
    }
    const { sessions } = await reeve.sessions()
    return sessions.filter(({ endedAt }) => endedAt !== null).map(({ id }) => id)
  }
  expect(await pass(180)).toEqual(['mcp-b'])
  await reeve.reply({ id: approval, value: 'yes' })
  expect(await pass(58)).toEqual(['mcp-b'])
  expect(await pass(4)).toEqual(['mcp-a', 'mcp-b'])
  await grace.close()
})

test('a session does not end while a session below it waits for a person', async () => {
  const reeve = await opened()
  const clock = handClock()
  await reeve.openSession({ session: 'child', parentSession: 'mcp-a' })
  await reeve.openSession({ session: 'grandchild', parentSession: 'child' })
  await reeve.as('session:grandchild').ask({ question: 'Ship it?' })
  const grace = endIdleSessions(reeve, { graceMs: HOUR, clock })
  for (let minute = 0; minute < 90; minute++) {
    clock.advance(60_000)
    clock.tick()
    await grace.settled()
  }
  const { sessions } = await reeve.sessions()
  expect(sessions.filter(({ endedAt }) => endedAt !== null).map(({ id }) => id)).toEqual(['mcp-b'])
  await grace.close()
})

test('a grace of 0 ends no session', async () => {
  const reeve = await opened()
  const clock = handClock()
  const grace = endIdleSessions(reeve, { graceMs: 0, clock })
  expect(clock.isTicking()).toBe(false)
  await grace.close()
})

function handClock() {
  let time = Date.now()
  let act: (() => void) | undefined
  const clock: GraceClock = {
    now: () => time,
    every(_, given) {
      act = given
      return () => {
        act = undefined
      }
    },
  }
  return {
    ...clock,
    advance(ms: number) {
      time += ms
    },
    tick: () => act?.(),
    isTicking: () => act !== undefined,
  }
}
