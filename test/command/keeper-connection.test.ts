import { expect, test } from 'vitest'
import { KeeperConnection, type Listening } from '../../src/command/keeper-connection.ts'
import type { KeeperLink } from '../../src/command/keeper-link.ts'
import type { Reached } from '../../src/command/reach-keeper.ts'
import type { Tell } from '../../src/keeper/protocol/messages.ts'

const TROUBLE: Tell = { tell: 'trouble', pid: null, message: 'the disk is full' }

/** Keepers one after the other; `settle` is where the first of them is lost, or fails. */
function connectionWith(settle: (nth: number, listening: Listening) => Promise<void>) {
  const seen: string[] = []
  const reached: Listening[] = []
  const connection = new KeeperConnection({
    async reach(listening) {
      reached.push(listening)
      const nth = reached.length
      const link = {
        ask: async (name: string) => void seen.push(`${name} ${nth}`),
        close: () => void seen.push(`closed ${nth}`),
      } as unknown as KeeperLink
      return { link, hello: { keeper: { id: `kp_${nth}` }, programs: [] } } as unknown as Reached
    },
    settle: () => settle(reached.length, reached.at(-1)!),
    up: ({ hello }) => void seen.push(`up ${hello.keeper.id}`),
    heard: (tell) => void seen.push(tell.tell),
    down: () => void seen.push('down'),
    gone: async () => {},
    onTrouble: (error) => void seen.push(String(error)),
  })
  return { connection, seen, reached }
}

test('a keeper that is lost while it is settled in is never taken for one that is up', async () => {
  const { connection, seen } = connectionWith(async (nth, { onLost }) => {
    if (nth === 1) onLost()
  })
  await connection.open()
  expect(connection.isUp).toBe(false)
  await connection.untilUp()
  expect(seen).toEqual(['up kp_2'])
  await connection.close()
})

test('reports of a keeper during the handshake are handled after it', async () => {
  const { connection, seen } = connectionWith(async (_nth, { onTell }) => onTell(TROUBLE))
  await connection.open()
  expect(seen).toEqual(['up kp_1', 'trouble'])
  await connection.close()
})

test('a keeper that cannot be settled in is let go, and reached once more', async () => {
  const { connection, seen, reached } = connectionWith(async (nth) => {
    if (nth === 2) throw new Error('the store is away')
  })
  await connection.open()
  reached[0]?.onLost()
  await connection.untilUp()
  expect(seen).toEqual(['up kp_1', 'down', 'closed 2', 'Error: the store is away', 'up kp_3'])
  await connection.close()
})

test('a connection that is closed while a keeper is reached takes its leave from that one', async () => {
  const settling = Promise.withResolvers<void>()
  const { connection, seen, reached } = connectionWith((nth) =>
    nth === 1 ? Promise.resolve() : settling.promise,
  )
  await connection.open()
  reached[0]?.onLost()
  const closed = connection.close()
  settling.resolve()
  await closed
  expect(seen).toEqual(['up kp_1', 'down', 'leave 2', 'closed 2'])
  expect(connection.isUp).toBe(false)
})
