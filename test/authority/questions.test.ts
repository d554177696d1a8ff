import { expect, test } from 'vitest'
import { AgentBench, answers, ended } from '../agent/toolbox/agent-bench.ts'
import { codeOf, onlyPending, ruledReeve } from './ruled-reeve.ts'

/** Rules about questions to people: `write human:<name>`, and `write human:host` where no person is named. */

const inSession = (session: string) => ({ type: 'session', session }) as const
const anyone = { question: 'Which port?' }
const ada = { question: 'Which port?', person: 'ada' }

test.for(['observe', 'ask', 'edit', 'full'] as const)(
  'under the preset %s an agent asks questions',
  async (preset) => {
    const { reeve, agent } = await ruledReeve()
    await reeve.setPreset({ to: inSession('s1'), preset })
    for (const question of [anyone, ada]) {
      const { record } = await agent.ask(question)
      expect(record.status).toBe('waiting')
    }
  },
)

test('an allow of something else takes away no questions, and neither does a ceiling', async () => {
  const { reeve, agent } = await ruledReeve({ effect: 'allow', resource: 'shell:ls' })
  expect((await agent.ask(anyone)).record.status).toBe('waiting')
  const { pid } = (
    await reeve.spawn({
      kind: 'external',
      spec: { description: 'x' },
      ceiling: { rules: [{ effect: 'allow', resource: 'tool:build' }] },
    })
  ).record
  expect((await reeve.as(`process:${pid}`).ask({ ...anyone, parent: pid })).record.status).toBe('waiting')
})

test('an allow that names a person allows questions to that person alone', async () => {
  const { agent } = await ruledReeve({ effect: 'allow', resource: 'human:ada', rights: ['write'] })
  expect((await agent.ask(ada)).record.status).toBe('waiting')
  expect(await codeOf(agent.ask({ ...ada, person: 'bob' }))).toBe('denied')
  expect(await codeOf(agent.ask(anyone))).toBe('denied')
})

test('a deny of a person refuses questions to that person, and one of human:host those to anyone', async () => {
  const { reeve, agent } = await ruledReeve({ effect: 'deny', resource: 'human:ada' })
  expect(await codeOf(agent.ask(ada))).toBe('denied')
  expect((await agent.ask(anyone)).record.status).toBe('waiting')
  await reeve.addRule({ to: inSession('s2'), rule: { effect: 'deny', resource: 'human:host' } })
  expect(await codeOf(reeve.as('session:s2').ask(anyone))).toBe('denied')
  const explained = await reeve.explainRules({ what: { type: 'resource', resource: 'write human:ada' } })
  expect(explained.ruling.type).toBe('deny')
})

test('rules about the tool human.ask hold as before', async () => {
  const { reeve, agent, other } = await ruledReeve()
  await reeve.addRule({ to: inSession('s1'), rule: { effect: 'deny', resource: 'tool:human.ask' } })
  await reeve.addRule({ to: inSession('s2'), rule: { effect: 'allow', resource: 'tool:human.ask', uses: 1 } })
  expect(await codeOf(agent.ask(anyone))).toBe('denied')
  expect((await other.ask(ada)).record.status).toBe('waiting')
  expect(await codeOf(other.ask(ada))).toBe('denied')
})

test('an agent under the preset observe asks with its tool, and reads the reply', async () => {
  const bench = new AgentBench()
  const reeve = await bench.open()
  await reeve.openSession({ session: 's1', preset: 'observe' })
  bench.scripts['asker'] = [[{ tool: 'ask_human', input: { question: 'Which port?' } }]]
  const { record } = await reeve.spawn({
    kind: 'agent',
    cwd: bench.workspace,
    owner: { session: 's1' },
    spec: { agent: 'asker', model: 'fake/model', goal: 'go', once: true },
  })
  await expect.poll(async () => (await reeve.approvals()).approvals.length, { timeout: 60_000 }).toBe(1)
  await reeve.reply({ id: (await onlyPending(reeve)).id, value: '8080' })
  await ended(reeve, record.pid)
  expect(await answers(reeve, record.pid)).toMatchObject([{ isError: false, text: '8080' }])
})
