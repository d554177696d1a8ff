import { expect, test } from 'vitest'
import { codeOf, ruledReeve, tool } from './ruled-reeve.ts'

/** Schedules and rules: what an agent schedules stays bound by the rules of the agent, whoever else touches the schedule. */

const cron = (hour: number) => ({ type: 'cron', cron: `0 ${hour} * * *`, zone: 'Europe/Berlin' }) as const
const NIGHTLY = { schedule: 'nightly', process: tool('deploy'), times: cron(2) }
const ASK = { effect: 'ask', resource: 'tool:deploy' }

test('an edit of the times by a person leaves the command of an agent under the rules of the agent', async () => {
  const { reeve, agent, ran } = await ruledReeve(ASK)
  await agent.addSchedule(NIGHTLY)
  await reeve.editSchedule({ schedule: 'nightly', times: cron(3) })
  expect((await reeve.schedule({ schedule: 'nightly' })).createdBy).toBe('session:s1')
  for (const actor of [agent, reeve]) {
    const { record } = await actor.runSchedule({ schedule: 'nightly' })
    expect(record.status).toBe('waiting')
  }
  const { next } = await reeve.schedule({ schedule: 'nightly' })
  expect(next === null ? null : (await reeve.show({ pid: next.pid })).status).toBe('waiting')
  expect(ran).toEqual([])
})

test('a process that a person puts into the schedule of an agent runs as the person, and under the rules of an agent that runs it', async () => {
  const { reeve, agent, ran } = await ruledReeve(ASK)
  await agent.addSchedule({ ...NIGHTLY, process: tool('build') })
  await reeve.editSchedule({ schedule: 'nightly', process: tool('deploy', 7) })
  const own = await reeve.runSchedule({ schedule: 'nightly' })
  expect((await reeve.wait({ pid: own.record.pid, timeoutMs: 30_000 })).type).toBe('ended')
  expect(ran).toEqual(['deploy 7'])
  expect((await agent.runSchedule({ schedule: 'nightly' })).record.status).toBe('waiting')
  expect(ran).toEqual(['deploy 7'])
})

test('an agent that runs or backfills the schedule of a person is denied what its rules deny', async () => {
  const { reeve, agent, ran } = await ruledReeve({ effect: 'deny', resource: 'tool:deploy' })
  await agent.addSchedule({ ...NIGHTLY, process: tool('build') })
  await reeve.editSchedule({ schedule: 'nightly', process: tool('deploy') })
  const day = 86_400_000
  const past = { schedule: 'nightly', from: Date.now() - 4 * day, until: Date.now() - day } as const
  expect(await codeOf(agent.runSchedule({ schedule: 'nightly' }))).toBe('denied')
  expect(await codeOf(agent.backfillSchedule({ ...past, overlap: 'allow' }))).toBe('denied')
  const paused = await agent.backfillSchedule({ ...past, overlap: 'queue' })
  expect(paused.paused?.note).toContain('tool:deploy')
  expect(paused.backfill).toBe(null)
  expect(ran).toEqual([])
})

test('an agent that edits only the times of a process that a person chose is bound by its own rules', async () => {
  const { reeve, agent, ran } = await ruledReeve(ASK)
  await agent.addSchedule({ ...NIGHTLY, process: tool('build') })
  await reeve.editSchedule({ schedule: 'nightly', process: tool('deploy') })
  const edited = await agent.editSchedule({ schedule: 'nightly', times: cron(4) })
  expect(edited.createdBy).toBe('session:s1')
  expect(edited.next === null ? null : (await reeve.show({ pid: edited.next.pid })).status).toBe('waiting')
  expect(ran).toEqual([])
})
