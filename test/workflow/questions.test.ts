import type { QuestionAnswer, ToolHandler } from 'reeve'
import { embed } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { embedTemp } from '../embed-temp.ts'
import { tempStore } from '../temp-folder.ts'
import { outcomeOf, serve, start } from './workflow-fixture.ts'

test('a workflow that is restarted asks once, and goes on with the reply', async () => {
  const store = tempStore()
  const replied: QuestionAnswer[] = []
  const work = async ({ ask }: { ask(question: { question: string }): Promise<QuestionAnswer> }) => {
    const answer = await ask({ question: 'Ship it?' })
    replied.push(answer)
    return answer.type === 'replied' ? answer.value : answer.type
  }
  const first = await serve(store, work)
  const pid = await start(first)
  await first.waitFor({ pid, types: ['wait_entered'] })
  await first.close()
  const second = await serve(store, work)
  const { approvals } = await second.approvals({ state: 'any' })
  expect(approvals).toMatchObject([{ state: 'pending', request: { text: 'Ship it?', ancestors: [pid] } }])
  await second.reply({ id: approvals[0]?.id ?? '', value: { yes: true, $reeve: 'Date' } })
  expect(await outcomeOf(second, pid)).toMatchObject({ status: 'completed' })
  expect(replied).toEqual([{ type: 'replied', value: { yes: true, $reeve: 'Date' }, by: 'host' }])
  expect((await second.approvals({ state: 'any' })).approvals).toHaveLength(1)
})

test('a tool asks, and learns of a reply and of a denial', async () => {
  const tool: ToolHandler = async ({ ask }) => [
    await ask({ question: 'One?', choices: ['a', 'b'] }),
    await ask({ question: 'Two?' }),
  ]
  const reeve = await embedTemp({ tools: { tool }, concurrency: 1 })
  const { record } = await reeve.spawn({ kind: 'tool', spec: { tool: 'tool' } })
  const pending = async (text: string) => {
    let id = ''
    await expect
      .poll(async () => {
        const found = (await reeve.approvals()).approvals.find(
          ({ request }) => request.type === 'question' && request.text === text,
        )
        id = found?.id ?? ''
        return id
      })
      .not.toBe('')
    return id
  }
  await reeve.reply({ id: await pending('One?'), value: 'b' })
  await reeve.deny({ id: await pending('Two?'), advice: 'Decide yourself.' })
  expect(await outcomeOf(reeve, record.pid)).toMatchObject({
    result: [
      { type: 'replied', value: 'b' },
      { type: 'denied', advice: 'Decide yourself.' },
    ],
  })
})

test('a question of a session tells its inbox that a person is asked, and then the reply', async () => {
  const reeve = await embed({ store: tempStore() })
  onTestFinished(() => reeve.close())
  await reeve.openSession({ session: 's1' })
  const session = reeve.as('session:s1')
  const question = { question: 'Which port?', idempotencyKey: 'k' }
  const { record, approval, type } = await session.ask(question)
  expect(type).toBe('registered')
  expect(await session.ask(question)).toMatchObject({ type: 'existing', approval })
  await expect(session.reply({ id: approval, value: '1' })).rejects.toMatchObject({ code: 'denied' })
  await reeve.reply({ id: approval, value: 'port 8080' })
  const { notices } = await session.notices({ scope: 'session:s1' })
  expect(notices.map(({ text }) => text)).toEqual([
    expect.stringMatching(
      /^A person is asked since .*: Which port\? \(p_\w+\)\. You will be told the reply here/,
    ),
    expect.stringContaining('The reply: port 8080'),
  ])
  expect(await session.wait({ pid: record.pid })).toMatchObject({
    type: 'ended',
    record: { outcome: { status: 'completed', result: 'port 8080' } },
  })
})

test('a wrong question is refused, and the reply to a permission as well', async () => {
  const reeve = await embed({ store: tempStore() })
  onTestFinished(() => reeve.close())
  await expect(reeve.ask({ question: 'x', choices: ['a', 'a'] })).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining('choices'),
  })
  await expect(reeve.reply({ id: 'a_none', value: 1 })).rejects.toMatchObject({ code: 'approval_unknown' })
  await reeve.addRule({ rule: { effect: 'ask', resource: 'tool:deploy' } })
  await reeve.openSession({ session: 's1' })
  const asking = { kind: 'tool', spec: { tool: 'deploy' } } as const
  const { record } = await reeve.as('session:s1').spawn({ ...asking, reason: 'The release is due.' })
  const [permission] = (await reeve.approvals()).approvals
  expect(permission).toMatchObject({ pid: record.pid, request: { reason: 'The release is due.' } })
  await expect(reeve.reply({ id: permission?.id ?? '', value: 'yes' })).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining('asks for a permission'),
  })
})
