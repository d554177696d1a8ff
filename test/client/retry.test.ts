import { ReeveError } from 'reeve'
import { expect, test } from 'vitest'
import { retrying } from '../../src/client/retry.ts'

const FOR_MS = 200
const hasAnswered = () => true

function away(sent: boolean): ReeveError {
  return new ReeveError('daemon_unreachable', 'Away.', 'Wait.', { details: { sent } })
}

/** A call that lasts, and is then cut. */
async function cutAfter(ms: number): Promise<never> {
  await new Promise((resolve) => void setTimeout(resolve, ms))
  throw away(true)
}

test('a long call is repeated when its daemon is restarted, and restarted again', async () => {
  let calls = 0
  const answer = await retrying(
    async () => {
      calls += 1
      if (calls === 1) return cutAfter(2 * FOR_MS)
      if (calls === 2) throw away(false)
      if (calls === 3) return cutAfter(2_100)
      return 'done'
    },
    { safe: true, forMs: FOR_MS, hasAnswered },
  )
  expect([answer, calls]).toEqual(['done', 4])
})

test('retries end after the time limit', async () => {
  let calls = 0
  const call = retrying(
    async () => {
      calls += 1
      throw away(calls > 1)
    },
    { safe: true, forMs: FOR_MS, hasAnswered },
  )
  await expect(call).rejects.toMatchObject({ code: 'daemon_unreachable' })
  expect(calls).toBeGreaterThan(1)
})

test('revive is told whether the daemon may have received the call', async () => {
  const toldFor = async (...cuts: readonly boolean[]) => {
    const told: boolean[] = []
    let calls = 0
    const attempt = async () => {
      const sent = cuts[calls++]
      if (sent !== undefined) throw away(sent)
    }
    await retrying(attempt, {
      safe: true,
      forMs: 60_000,
      hasAnswered,
      revive: async (wasHeard) => {
        told.push(wasHeard)
        return undefined
      },
    })
    return told
  }
  expect(await toldFor(false, false)).toEqual([false, false])
  expect(await toldFor(true, false)).toEqual([true, true])
})

test('a wait is retried as long as daemons come back, however soon each is killed', async () => {
  let calls = 0
  const attempt = async () => {
    calls += 1
    // Every second daemon is killed before the call reaches it.
    if (calls <= 12) throw away(calls % 2 === 0)
    return 'done'
  }
  const options = { safe: true, forMs: FOR_MS, outlastsRestarts: true, hasAnswered }
  expect(await retrying(attempt, { ...options, revive: async () => `daemon ${calls}` })).toBe('done')
})

test('a wait gives up on a daemon that is announced and cannot be reached', async () => {
  const attempt = async () => {
    throw away(false)
  }
  const options = { safe: true, forMs: FOR_MS, outlastsRestarts: true, hasAnswered }
  const call = retrying(attempt, { ...options, revive: async () => 'the same daemon' })
  await expect(call).rejects.toMatchObject({ code: 'daemon_unreachable' })
})

test('a read and a wait give up on a server that closes connections and has never answered', async () => {
  const attempt = async () => {
    throw away(true)
  }
  for (const isWait of [true, false]) {
    const options = { safe: true, forMs: FOR_MS, outlastsRestarts: true, isWait, hasAnswered: () => false }
    await expect(retrying(attempt, options)).rejects.toMatchObject({ code: 'daemon_unreachable' })
  }
})

test('a read that crashes every daemon is given up after 20 tries', async () => {
  let started = 0
  const attempt = async () => {
    throw away(true)
  }
  const call = retrying(attempt, {
    safe: true,
    forMs: FOR_MS,
    outlastsRestarts: true,
    hasAnswered,
    revive: async () => `daemon ${++started}`,
  })
  await expect(call).rejects.toMatchObject({ code: 'daemon_unreachable' })
  expect(started).toBe(19)
})
