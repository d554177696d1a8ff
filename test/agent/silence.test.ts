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
