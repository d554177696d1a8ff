import type { Client } from '@modelcontextprotocol/client'
import { connect } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { TokenFile } from '../../src/daemon/token-file.ts'
import { until } from '../keeper/client.ts'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'
import { call, ERAS, type Era } from './connected.ts'
import { clientAtDaemon } from './daemon-client.ts'
import { reeveMcp } from './reeve-mcp.ts'

const OPERATOR_TOOLS = ['approval_list', 'approval_answer']

async function askingDaemon(temp: TempReeve) {
  const { url } = await temp.up()
  const tokens = new TokenFile(temp.home)
  const ada = tokens.create({ role: 'operate', person: 'ada' }).token
  const { token } = tokens.create({ role: 'agent', session: 's1', person: 'ada' })
  const host = await connect({ home: temp.home.folder })
  const agent = await connect({ url: url ?? '', token })
  onTestFinished(() => Promise.all([host.close(), agent.close()]).then(() => undefined))
  await host.addRule({
    rule: { effect: 'ask', resource: 'shell:touch', justification: 'files are reviewed' },
  })
  await host.openSession({ session: 's1' })
  const spawn = async (name: string) => {
    const { record } = await agent.spawn({
      kind: 'command',
      spec: { argv: ['touch', name] },
      cwd: temp.folder,
    })
    return { pid: record.pid, approval: record.gate?.approval ?? '' }
  }
  return { url: url ?? '', ada, agentToken: token, tokens, host, agent, spawn }
}

async function toolNames(client: Client): Promise<string[]> {
  return (await client.listTools()).tools.map(({ name }) => name)
}

for (const era of ERAS) {
  test(`in the ${era} era a person's operator token lists what agents ask for, and answers in that person's name`, async () => {
    const temp = new TempReeve()
    const { url, ada, host, agent, spawn } = await askingDaemon(temp)
    const { client } = await clientAtDaemon({ url, token: ada, era, folder: tempFolder() })
    expect(await toolNames(client)).toEqual(expect.arrayContaining(OPERATOR_TOOLS))
    expect((await call(client, 'approval_list')).text).toBe('Nothing waits for an answer.')
    const [one, two] = [await spawn('one'), await spawn('two')]
    await agent.ask({ question: 'Which port?', person: 'bob' })
    const urgent = await agent.ask({ question: 'Now?', choices: ['yes', 'no'], priority: 5 })
    const listed = await call<{ approvals: { id: string }[] }>(client, 'approval_list')
    expect(listed.structured.approvals.map(({ id }) => id)).toEqual([
      urgent.approval,
      one.approval,
      two.approval,
    ])
    expect(listed.text).toContain('Run: touch one')
    expect(listed.text).toContain('files are reviewed')

    const approved = await call(client, 'approval_answer', { id: one.approval, answer: 'approve' })
    expect(approved.text).toContain('approved by human:ada')
    expect(await host.wait({ pid: one.pid })).toMatchObject({ record: { status: 'completed' } })
    const late = await call(client, 'approval_answer', { id: one.approval, answer: 'deny' })
    expect(late.text).toContain('was settled before, and nothing changed: approved by human:ada')
    await call(client, 'approval_answer', { id: two.approval, answer: 'deny', advice: 'One is enough.' })
    expect(await agent.show({ pid: two.pid })).toMatchObject({
      outcome: { result: { advice: 'One is enough.' } },
    })
    const wrong = await call(client, 'approval_answer', {
      id: urgent.approval,
      answer: 'reply',
      reply: 'maybe',
    })
    expect(wrong).toMatchObject({ isError: true, text: expect.stringContaining('yes, no') })
    await call(client, 'approval_answer', { id: urgent.approval, answer: 'reply', reply: 'yes' })
    expect(await agent.show({ pid: urgent.record.pid })).toMatchObject({ outcome: { result: 'yes' } })
    const settled = await call<typeof listed.structured>(client, 'approval_list', { settled: true, limit: 2 })
    // The newest first.
    expect(settled.structured.approvals.map(({ id }) => id)).toEqual([urgent.approval, two.approval])
    expect(await call(client, 'approval_answer', { id: 'a_none', answer: 'approve' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('(approval_unknown)'),
    })
  })

  test(`in the ${era} era an operator's client does not answer what it asked for itself`, async () => {
    const temp = new TempReeve()
    const { url, ada, host } = await askingDaemon(temp)
    const cwd = tempFolder()
    for (const folder of [cwd, undefined]) {
      const placed = folder === undefined ? {} : { folder }
      const { client } = await clientAtDaemon({ url, token: ada, era, ...placed })
      await call(client, 'process_start', { argv: ['touch', 'own'], cwd })
      const [own] = (await host.approvals()).approvals
      const refused = await call(client, 'approval_answer', { id: own?.id, answer: 'approve' })
      expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('asked for') })
      expect((await host.approvals()).approvals).toHaveLength(1)
      await host.deny({ id: own?.id ?? '' })
      if (folder === undefined && era === 'modern') continue
      await call(client, 'human_ask', { question: 'May I?', timeoutMs: 0 })
      const [question] = (await host.approvals()).approvals
      const replied = { id: question?.id, answer: 'reply', reply: 'yes' }
      expect(await call(client, 'approval_answer', replied)).toMatchObject({ isError: true })
      if (folder !== undefined && era === 'modern') {
        // The same program without a folder may be the one that asked.
        const { client: other } = await clientAtDaemon({ url, token: ada, era })
        expect(await call(other, 'approval_answer', replied)).toMatchObject({ isError: true })
      }
      await host.deny({ id: question?.id ?? '' })
    }
  })

  test(`in the ${era} era neither an agent nor a token without a person has the tools and the queue`, async () => {
    const temp = new TempReeve()
    const { url, agentToken, tokens } = await askingDaemon(temp)
    const others = [
      agentToken,
      tokens.create({ role: 'agent', session: 's1', person: 'ada', approver: true }).token,
      tokens.create({ role: 'operate' }).token,
      tokens.create({ role: 'read', person: 'ada' }).token,
    ]
    for (const token of others) {
      const { client } = await clientAtDaemon({ url, token, era, folder: tempFolder() })
      expect((await toolNames(client)).filter((name) => OPERATOR_TOOLS.includes(name))).toEqual([])
      const { resources } = await client.listResources()
      expect(resources.map(({ uri }) => uri)).not.toContain('reeve://approvals')
      await expect(client.readResource({ uri: 'reeve://approvals' })).rejects.toThrow()
    }
  })

  test(`in the ${era} era subscribers hear of an approval when it is asked for, and when it is settled`, async () => {
    const temp = new TempReeve()
    const { url, ada, agentToken, host, spawn } = await askingDaemon(temp)
    const folder = tempFolder()
    const operator = await clientAtDaemon({ url, token: ada, era, folder })
    const heard = listener(operator.client)
    await subscribed(operator.client, era, 'reeve://approvals')
    const { pid, approval } = await spawn('one')
    await until('the queue has changed', () => heard.includes('reeve://approvals'))
    const { contents } = await operator.client.readResource({ uri: 'reeve://approvals' })
    expect(JSON.parse(String(Object(contents[0]).text))).toMatchObject([{ id: approval, pid }])

    const asker = await clientAtDaemon({ url, token: agentToken, era, folder })
    const told = listener(asker.client)
    await subscribed(asker.client, era, `reeve://processes/${pid}`)
    heard.length = 0
    await host.deny({ id: approval })
    await until('the queue has changed again', () => heard.includes('reeve://approvals'))
    await until('the process has changed', () => told.includes(`reeve://processes/${pid}`))
    heard.length = 0
    const second = await spawn('two')
    await until('the next one is heard', () => heard.length > 0)
    heard.length = 0
    await host.kill({ pid: second.pid })
    await until('a withdrawn one is heard', () => heard.length > 0)
  })
}

test('reeve mcp with the operator token of a person has the tools; without a token it has not', async () => {
  const temp = new TempReeve()
  const { url, ada, host, tokens, spawn } = await askingDaemon(temp)
  const cwd = tempFolder()
  const operator = await reeveMcp(temp, { era: 'modern', cwd, env: { REEVE_URL: url, REEVE_TOKEN: ada } })
  expect(await toolNames(operator)).toEqual(expect.arrayContaining(OPERATOR_TOOLS))
  const heard = listener(operator)
  await subscribed(operator, 'modern', 'reeve://approvals')
  const { approval } = await spawn('one')
  await until('the queue has changed', () => heard.includes('reeve://approvals'))
  expect((await call(operator, 'approval_answer', { id: approval, answer: 'approve' })).text).toContain(
    'human:ada',
  )
  await call(operator, 'process_start', { argv: ['touch', 'own'] })
  const [own] = (await host.approvals()).approvals
  expect(await call(operator, 'approval_answer', { id: own?.id, answer: 'approve' })).toMatchObject({
    isError: true,
    text: expect.stringContaining('asked for it itself'),
  })
  const { token } = tokens.create({ role: 'read', person: 'ada' })
  const reader = await reeveMcp(temp, { era: 'modern', cwd, env: { REEVE_URL: url, REEVE_TOKEN: token } })
  expect((await toolNames(reader)).filter((name) => OPERATOR_TOOLS.includes(name))).toEqual([])
  expect(await call(reader, 'process_start', { run: 'true' })).toMatchObject({ isError: true })
  expect((await host.approvals()).approvals).toMatchObject([{ id: own?.id, state: 'pending' }])
  const agent = await reeveMcp(temp, { era: 'modern', cwd })
  expect((await toolNames(agent)).filter((name) => OPERATOR_TOOLS.includes(name))).toEqual([])
})

function listener(client: Client): string[] {
  const heard: string[] = []
  client.setNotificationHandler(
    'notifications/resources/updated',
    ({ params }) => void heard.push(params.uri),
  )
  return heard
}

async function subscribed(client: Client, era: Era, uri: string): Promise<void> {
  if (era === 'legacy') await client.subscribeResource({ uri })
  else await client.listen({ resourceSubscriptions: [uri] })
}
