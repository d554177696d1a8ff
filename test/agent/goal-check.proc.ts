import { expect, test } from 'vitest'
import { TempReeve } from '../temp-reeve.ts'
import { payloads, scriptedAgents } from './scripted-agent.ts'

test('turns repeat until a command succeeds', async () => {
  const temp = new TempReeve()
  const { reeve, start } = await scriptedAgents(optionsOf(temp))
  const pid = await start({ answers: [{ parts: [{ text: 'I tried.' }] }], atEnd: 'repeat' })
  const run = 'test -e done && exit 0; touch done; echo not yet; exit 1'
  await reeve.runAgent({ pid, text: 'do it', until: { type: 'command', run } })
  expect(await reeve.waitAgent({ pid, turn: 2, timeoutMs: 10_000 })).toMatchObject({
    turn: { reason: 'finished' },
  })
  expect(await payloads(reeve, pid, 'turn_ended')).toMatchObject([
    { goal: 'go_on', check: { holds: false, found: 'not yet' } },
    { goal: 'holds' },
  ])
})

test('a cancelled turn ends its check, and the next turn runs', async () => {
  const temp = new TempReeve()
  const { reeve, start } = await scriptedAgents(optionsOf(temp))
  const pid = await start({ answers: [{ parts: [{ text: 'I tried.' }] }], atEnd: 'repeat' })
  await reeve.runAgent({ pid, text: 'do it', until: { type: 'command', run: 'sleep 60' } })
  const checks = async () =>
    (await reeve.list({ filter: { parent: pid, kind: 'command' } })).processes.map(
      ({ record }) => record.status,
    )
  await expect.poll(checks).toEqual(['running'])
  await reeve.cancelTurn({ pid })
  await reeve.runAgent({ pid, text: 'and now?' })
  expect(await reeve.waitAgent({ pid, turn: 2, timeoutMs: 10_000 })).toMatchObject({
    turn: { reason: 'finished' },
  })
  await expect.poll(checks).toEqual([])
})

function optionsOf({ store, keeperHome }: TempReeve) {
  return { store, commands: { home: keeperHome.folder, environment: 'inherit', shell: '/bin/sh' } } as const
}
