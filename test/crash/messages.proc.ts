import { join } from 'node:path'
import { type Embedded, embed } from 'reeve'
import { describe, expect, onTestFinished, test } from 'vitest'
import { tempFolder } from '../temp-folder.ts'
import { NEW_STORES } from './new-stores.ts'
import { startProgram } from './program.ts'

const ROUNDS = 3
/** Two messages in each round, and one at the end. */
const COUNT = 2 * ROUNDS + 1

/** Resolves when the process waits, at some time after the event `after`. */
async function waitingAgain(reeve: Embedded, pid: string, after: number): Promise<void> {
  for (;;) {
    const heard = await reeve.waitFor({ pid, types: ['wait_entered', 'wait_left'], after })
    if (heard.type !== 'heard') throw new Error(`${pid}: ${heard.type}`)
    if ((await reeve.show({ pid })).wait !== null) return
  }
}

describe.each(NEW_STORES)('%s', (_, newStore) => {
  test.for([
    { kind: 'tool', spec: { tool: 'receives', input: COUNT }, recovery: 'rerunnable' },
    { kind: 'workflow', spec: { workflow: 'receives', input: COUNT } },
  ] as const)(
    'a $kind whose program is killed while it waits receives each message once, in order',
    async (request) => {
      const store = await newStore()
      const log = join(tempFolder(), 'executions')
      const boss = await embed({ store, times: { sweepMs: 100 } })
      onTestFinished(() => boss.close())
      let program = await startProgram('worker', [store, log])
      const { record } = await boss.spawn(request)
      const { pid } = record
      const to = `process:${pid}`
      const expected: string[] = []
      const send = async (value: string) => {
        expected.push(value)
        const message = { to, channel: 'work', value, idempotencyKey: value }
        await boss.sendMessage(message)
        await boss.sendMessage(message)
        await boss.sendMessage({ to, channel: 'other', value })
      }
      for (let round = 0; round < ROUNDS; round++) {
        const { revision } = await boss.show({ pid })
        await send(`${round} while it lives`)
        await waitingAgain(boss, pid, revision)
        await program.kill()
        await send(`${round} while it is dead`)
        program = await startProgram('worker', [store, log])
      }
      await send('last')
      const ended = await boss.wait({ pid })
      if (ended.type !== 'ended') throw new Error(`${pid}: ${ended.type}`)
      expect(ended.record.outcome).toMatchObject({ status: 'completed', result: expected })
      const { notices } = await boss.notices({ scope: to })
      expect(notices.map(({ payload }) => [Object(payload).channel, Object(payload).value])).toEqual(
        expected.map((value) => ['other', value]),
      )
    },
  )
})
