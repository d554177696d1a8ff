import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { connect, type InputOf, type Reeve } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { TokenFile } from '../../src/daemon/token-file.ts'
import { type VerbName, verbs } from '../../src/verbs/reeve.ts'
import { call, clientOf, ERAS } from '../mcp/connected.ts'
import { TempReeve } from '../temp-reeve.ts'

const READ_VERBS = (Object.keys(verbs) as VerbName[]).filter((name) => verbs[name].needs === 'read').sort()

/** Every row of every table, and every file with a read position. */
function contents(home: TempReeve['home']): Record<string, unknown> {
  const db = new DatabaseSync(home.store, { readOnly: true })
  try {
    const tables = db.prepare("select name from sqlite_master where type = 'table' order by name").all()
    const rows = tables.map(({ name }) => [
      name,
      withoutTimes(db.prepare(`select * from ${name} order by 1, 2`).all()),
    ])
    return { ...Object.fromEntries(rows), cursors: files(join(home.commands, 'cursors')) }
  } finally {
    db.close()
  }
}

/** A holder renews its own row, independent of reads. */
function withoutTimes(rows: Record<string, unknown>[]): unknown[] {
  return rows.map(({ renewed_at: _, expires_at: __, ...row }) => ({ ...row }))
}

function files(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .map((name) => `${name}: ${readFileSync(join(folder, name), 'utf8')}`)
    .sort()
}

async function settled(): Promise<{
  temp: TempReeve
  user: Reeve
  read: Reeve
  pid: string
  live: string
  token: string
}> {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const { token } = new TokenFile(temp.home).create({ role: 'read' })
  const url = daemon.url ?? ''
  const user = await connect({ socket: temp.home.socket })
  const read = await connect({ url, token })
  onTestFinished(async () => {
    await read.close()
    await user.close()
  })
  await user.openSession({ session: 's1' })
  const own = user.as('session:s1')
  await own.openTurn({ session: 's1', turn: 't1' })
  const owner = { session: 's1' }
  const spec = { run: 'echo one; echo two; sleep 0.1', pty: true }
  const { record } = await own.spawn({ kind: 'command', spec, owner })
  const { record: server } = await own.spawn({
    ...{ kind: 'command', owner },
    spec: { run: 'echo up; sleep 300', ready: { log: 'up' } },
  })
  // The host waits: the notified session has not seen the end yet.
  await user.wait({ pid: record.pid })
  await user.wait({ pid: server.pid, ready: true })
  const { notices } = await user.notices({ scope: 'session:s1' })
  expect(notices.map(({ kind }) => kind)).toContain('completion')
  return { temp, user, read, pid: record.pid, live: server.pid, token }
}

test('a read token changes no table and no read position, whichever actor it acts as', async () => {
  const { temp, user, read, pid, live } = await settled()
  const { envRef } = await user.putEnvironment({ variables: { A: '1' }, policy: {}, options: {} })
  const { approval } = await user.as('session:s1').ask({ question: 'Which?' })
  const { record: agent } = await user.spawn({
    kind: 'agent',
    spec: { agent: 'coder', model: 'scripted/demo' },
    owner: { session: 's1' },
  })
  await user.putObject({ pid: agent.pid, name: 'plan', type: 'plan', text: 'look' })
  await user.addSchedule({
    schedule: 'nightly',
    times: { type: 'every', everyMs: 3_600_000 },
    process: { kind: 'workflow', spec: { workflow: 'nightly' } },
  })
  await user.addTrigger({
    trigger: 'deploy',
    source: { type: 'webhook' },
    process: { kind: 'workflow', spec: { workflow: 'deploy' } },
  })
  const inputs: { readonly [Name in VerbName]?: InputOf<Name>[] } = {
    agents: [{}, { session: 's1', ended: true }],
    inspectAgent: [{ pid: agent.pid }],
    images: [{}],
    image: [{ name: 'coder' }],
    agentFiles: [{}],
    agentFile: [{ path: join(import.meta.dirname, '../fixtures/workspace/.reeve/agents/guarded.yaml') }],
    agentInputs: [{ pid: agent.pid }],
    writtenTools: [{ pid: agent.pid }],
    agentCost: [{ pid: agent.pid }],
    objects: [{ pid: agent.pid }],
    object: [{ pid: agent.pid, name: 'plan' }],
    objectHistory: [{ pid: agent.pid, name: 'plan' }],
    diffObject: [{ pid: agent.pid, name: 'plan' }],
    agentLog: [{ pid: agent.pid }],
    rewindPoints: [{ pid: agent.pid }],
    exportAgent: [{ pid: agent.pid }],
    waitAgent: [{ pid: agent.pid }, { pid: agent.pid, turn: 1, timeoutMs: 10 }],
    liveCount: [{ session: 's1' }],
    approvals: [{}],
    approval: [{ id: approval }],
    checkPolicy: [{ text: '{}' }],
    budget: [{ pid }, { session: 's1' }],
    changes: [{}],
    workflows: [{}],
    tools: [{}],
    environment: [{ envRef }],
    events: [{ pid }],
    grants: [{ session: 's1' }],
    list: [{ filter: { status: 'any' }, turn: 't1', ports: true, budgets: true }],
    log: [{ pid }, { pid, from: 'start' }],
    notices: [
      { scope: 'session:s1', consumer: 'c', turn: 't1' },
      { scope: 'session:s1', all: true },
    ],
    output: [{ pid }],
    poll: [{ pid }, { pid, turn: 't1' }, { pid, cursor: 'o0' }],
    screen: [{ pid }],
    search: [{ pid, text: 'one' }],
    sessions: [{}],
    schedule: [{ schedule: 'nightly' }],
    schedules: [{}],
    trigger: [{ trigger: 'deploy' }],
    triggers: [{}],
    deliveries: [{ trigger: 'deploy' }],
    show: [{ pid }],
    status: [{}],
    outputStreams: [{ pid: live }],
    usage: [{ pid }, { pid: live }],
    wait: [
      { pid },
      { pid, until: { text: 'one' } },
      { pid, until: { text: 'never' } },
      { pid: live, ready: true },
      { pid: live, timeoutMs: 10 },
    ],
    waitAll: [{ pids: [pid] }],
    waitAny: [{ pids: [pid, live] }],
    waitFor: [{ pid, types: ['ended'] }],
    whoami: [{}],
    worktrees: [{}],
  }
  expect(Object.keys(inputs).sort()).toEqual(READ_VERBS)
  const before = contents(temp.home)
  const refused: string[] = []
  for (const actor of ['host', 'session:s1', `process:${pid}`] as const) {
    const acting = read.as(actor)
    for (const [name, given] of Object.entries(inputs))
      for (const input of given as unknown[]) {
        const verb = acting[name as VerbName] as (input: unknown) => Promise<unknown>
        await verb(input).catch(({ code }) => refused.push(`${actor} ${name} ${code}`))
      }
    for await (const _ of acting.followOutput({ pid }));
    for await (const _ of acting.follow({ filter: { pid } })) break
  }
  expect(contents(temp.home)).toEqual(before)
  // A session or a process reaches everything but global facts.
  expect(refused.filter((line) => line.startsWith('host'))).toEqual([])
  // The request is the session's own.
  expect(refused.filter((line) => !line.endsWith(' denied'))).toEqual([
    `process:${pid} approval approval_unknown`,
  ])
  const { notices } = await user
    .as('session:s1')
    .takeNotices({ scope: 'session:s1', consumer: 'c', turn: 't1' })
  expect(notices.map(({ kind, pid: about }) => `${kind} ${about}`)).toContain(`completion ${pid}`)
  expect((await user.as('session:s1').poll({ pid })).text).toContain('one')
})

test('the same reads with the role operate move read positions', async () => {
  const { temp, user, pid } = await settled()
  const own = user.as('session:s1')
  const before = contents(temp.home)
  await own.poll({ pid })
  expect(contents(temp.home)['cursors']).not.toEqual(before['cursors'])
  await own.wait({ pid })
  expect(contents(temp.home)['notice']).not.toEqual(before['notice'])
})

for (const era of ERAS)
  test(`in the ${era} era an MCP client with a read token leaves every table as it was`, async () => {
    const { temp, pid, token, read } = await settled()
    const { url } = JSON.parse(readFileSync(temp.home.daemon, 'utf8')) as { url: string }
    const before = contents(temp.home)
    const client = clientOf({ era })
    const headers = { authorization: `Bearer ${token}`, 'reeve-as': 'session:s1' }
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
    )
    const { tools } = await client.listTools()
    const given: Record<string, object> = {
      ...{ process_search: { pid, text: 'one' }, process_list: { status: 'any' }, inbox: {} },
    }
    for (const { name } of tools) await call(client, name, { ...(given[name] ?? { pid }) })
    for (const uri of ['reeve://processes', 'reeve://inbox', `reeve://processes/${pid}/log`])
      await client.readResource({ uri })
    await read.status()
    expect(contents(temp.home)).toEqual(before)
    expect(tools.map(({ name }) => name)).toContain('process_wait')
  })
