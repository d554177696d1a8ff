import { expect, test } from 'vitest'
import { localAgents } from './local-server.ts'
import { payloads } from './scripted-agent.ts'

const until = { type: 'model', check: 'it is done' } as const

test('a check by a model is asked for again after status 503, and no turn is paid for in between', async () => {
  let failures = 1
  const { asked, reeve, start, turn } = await localAgents(({ kind }) => {
    if (kind !== 'judge') return { text: 'done' }
    failures -= 1
    return failures >= 0 ? { status: 503, message: 'overloaded' } : { text: 'YES, it is.' }
  })
  const pid = await start()
  expect(await turn(pid, { text: 'do it', until })).toMatchObject({
    reason: 'finished',
    goal: 'holds',
    check: { holds: true },
  })
  expect(asked.map(({ kind }) => kind)).toEqual(['turn', 'judge', 'judge'])
  expect(await payloads(reeve, pid, 'model_call_retried')).toMatchObject([{ turn: 1, call: 0 }])
})

test('a check that cannot be made is no verdict: the goal loop ends, and says so', async () => {
  const { asked, reeve, start, turn } = await localAgents(({ kind }) =>
    kind === 'judge' ? { status: 401, message: 'no key' } : { text: 'done' },
  )
  const pid = await start()
  expect(await turn(pid, { text: 'do it', until })).toMatchObject({
    reason: 'finished',
    result: 'done',
    goal: 'unchecked',
    check: { holds: false, failed: true, found: expect.stringContaining('no key') },
  })
  expect(asked.filter(({ kind }) => kind === 'turn')).toHaveLength(1)
  expect(await reeve.waitAgent({ pid })).toMatchObject({ type: 'idle' })
})
