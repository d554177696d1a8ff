import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { SilenceWatch } from '../../src/agent/silence-watch.ts'
import { embedWith } from '../../src/embed/embed.ts'
import { openMemory } from '../../src/store/memory/open.ts'
import { simulatedClock } from '../../src/testing/simulated-clock.ts'
import { tempFolder } from '../temp-folder.ts'
import { TEST_PRESET } from '../test-preset.ts'

test('a silence is reported once, an event begins the next one, and a closed watch reports nothing', async () => {
  const clock = simulatedClock()
  let reports = 0
  const watch = new SilenceWatch({
    clock,
    silentMs: 300_000,
    report: async () => {
      reports += 1
      return true
    },
  })
  clock.advance(299_999)
  watch.heard()
  clock.advance(299_999)
  expect(reports).toBe(0)
  clock.advance(1)
  expect(reports).toBe(1)
  clock.advance(3_600_000)
  expect(reports).toBe(1)
  watch.heard()
  clock.advance(300_000)
  expect(reports).toBe(2)
  watch.heard()
  await watch.close()
  watch.heard()
  clock.advance(3_600_000)
  expect(reports).toBe(2)
})

test('a silence with nothing to report is looked at again after as long a time', async () => {
  const clock = simulatedClock()
  const said: boolean[] = [false, true]
  let looks = 0
  const watch = new SilenceWatch({ clock, silentMs: 1_000, report: async () => said[looks++] ?? true })
  clock.advance(1_000)
  await expect.poll(() => looks).toBe(1)
  await Promise.resolve()
  clock.advance(1_000)
  await expect.poll(() => looks).toBe(2)
  clock.advance(10_000)
  expect(looks).toBe(2)
  await watch.close()
})

test('an agent that waits for an approval alone is not reported as silent', async () => {
  const folder = tempFolder()
  const call = { tool: 'write_file', input: { path: 'a.txt', content: 'new' } }
  writeFileSync(join(folder, 'asks.json'), JSON.stringify({ answers: [{ parts: [call] }] }))
  const late = { answers: [{ parts: [{ text: 'late' }], afterMs: 3_600_000 }] }
  writeFileSync(join(folder, 'late.json'), JSON.stringify(late))
  const options = { store: await openMemory(), ...TEST_PRESET }
  const reeve = await embedWith(options, { agentTimes: { silentMs: 50 } })
  onTestFinished(() => reeve.close())
  await reeve.registerImage({ image: { name: 'asking', preset: 'ask', models: ['scripted/asks.json'] } })
  const alerts = async (pid: string) => {
    const { events } = await reeve.events({ pid, limit: 1_000 })
    return events.filter(({ type }) => type === 'agent_alerted').length
  }
  const asking = { agent: 'helper', image: 'asking', goal: 'write' }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: folder, spec: asking })
  await expect.poll(async () => (await reeve.approvals({})).approvals.length).toBe(1)
  // It may have been silent before it asked.
  const before = await alerts(record.pid)
  // The silence of this one began later, and is reported.
  const spec = { agent: 'helper', model: 'scripted/late.json', goal: 'answer' }
  const other = await reeve.spawn({ kind: 'agent', cwd: folder, spec })
  await expect.poll(() => alerts(other.record.pid)).toBeGreaterThan(0)
  expect(await alerts(record.pid)).toBe(before)
})

test('an agent whose model does not answer is reported as silent, and its turn goes on', async () => {
  const folder = tempFolder()
  const script = { answers: [{ parts: [{ text: 'late' }], afterMs: 3_600_000 }] }
  writeFileSync(join(folder, 'script.json'), JSON.stringify(script))
  const options = { store: await openMemory(), ...TEST_PRESET }
  const reeve = await embedWith(options, { agentTimes: { silentMs: 20 } })
  onTestFinished(() => reeve.close())
  const spec = { agent: 'helper', model: 'scripted/script.json', goal: 'answer' }
  const { record } = await reeve.spawn({ kind: 'agent', cwd: folder, spec })
  const { pid } = record
  const types: string[] = []
  for await (const event of reeve.follow({ after: 0, filter: { pid: [pid] } })) {
    types.push(event.type)
    if (event.type === 'agent_alerted' && types.includes('model_call_begun')) {
      expect(event.payload).toEqual({ turn: 1, alert: 'silent', message: 'No event for 0.02 s.' })
      break
    }
  }
  expect(await reeve.show({ pid })).toMatchObject({ outcome: null, agent: { turn: { number: 1 } } })
})
