import { connect, type Reeve } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { TokenFile } from '../../src/daemon/token-file.ts'
import { userName } from '../../src/os/user-name.ts'
import { TempReeve } from '../temp-reeve.ts'
import { ask } from './ask.ts'

const user = `human:${userName()}`
const asPerson = { headers: { 'reeve-person': '1' } }
const rule = { to: { type: 'home' }, rule: { effect: 'ask', resource: 'tool:deploy' } } as const

test('people have names on every door: in whoami, in answers, in rules and in the audit', async () => {
  const temp = new TempReeve()
  const daemon = await temp.up({ flags: { approver: true } })
  const tokens = new TokenFile(temp.home)
  const { token: ada } = tokens.create({ role: 'admin', person: 'ada' })
  await ask(daemon, 'PUT /v1/sessions/s1', {})
  const { token: agent } = tokens.create({ role: 'agent', session: 's1', person: 'ada', approver: true })

  const whoami = async (asking: Parameters<typeof ask>[2]) =>
    (await ask(daemon, 'GET /v1/whoami', asking)).json
  expect(await whoami({})).toMatchObject({ actor: 'host', person: null, approver: false })
  expect(await whoami(asPerson)).toMatchObject({ actor: 'host', person: user, approver: true })
  expect(await whoami({ token: daemon.token })).toMatchObject({ actor: 'host', person: null })
  expect(await whoami({ token: ada })).toMatchObject({ actor: 'host', person: 'human:ada', approver: false })
  expect(await whoami({ token: agent })).toMatchObject({
    ...{ actor: 'session:s1', session: 's1' },
    ...{ person: 'human:ada', approver: true },
  })
  const client = await connected({ home: temp.home.folder })
  expect(await client.whoami()).toMatchObject({ person: user })

  const url = daemon.url ?? ''
  await (await connected({ url, token: ada })).addRule(rule)
  await (await connected({ url, token: daemon.token })).addRule(rule)
  await client.addRule(rule)
  const asking = await connected({ url, token: agent })
  const pids: string[] = []
  for (let i = 0; i < 3; i++)
    pids.push((await asking.spawn({ kind: 'tool', spec: { tool: 'deploy', input: i } })).record.pid)
  const { approvals } = await client.approvals()
  expect(approvals.map(({ pid }) => pid)).toEqual(pids)
  const [first, second, third] = approvals.map(({ id }) => `/v1/approvals/${id}`)

  // A caller without a name answers nothing; an agent's token does not answer in the name of its person.
  for (const [how, code] of [
    [{}, 'person_required'],
    [{ token: daemon.token }, 'person_required'],
    [{ token: agent }, 'denied'],
    [{ token: agent, ...asPerson }, 'denied'],
    [{ headers: { 'reeve-person': '1', 'reeve-as': 'session:s1' } }, 'denied'],
  ] as const)
    for (const act of ['approve', 'deny'])
      expect((await ask(daemon, `POST ${first}/${act}`, { ...how, body: {} })).json).toMatchObject({ code })

  const by = async (what: string, how: Parameters<typeof ask>[2]) =>
    (await ask(daemon, what, { ...how, body: {} })).json.approval.answer
  expect(await by(`POST ${first}/deny`, { token: ada })).toMatchObject({ type: 'denied', by: 'human:ada' })
  expect(await by(`POST ${second}/deny`, asPerson)).toMatchObject({ type: 'denied', by: user })
  expect(await by(`POST ${third}/approve`, { token: ada })).toMatchObject({
    type: 'approved',
    by: 'human:ada',
  })
  // The first answer stays.
  expect(await by(`POST ${first}/approve`, asPerson)).toMatchObject({ type: 'denied', by: 'human:ada' })

  const { entries } = await client.audit({ oldestFirst: true })
  const actorsOf = (action: string) =>
    entries.flatMap((entry) => (entry.type === 'entry' && entry.action === action ? [entry.actor] : []))
  expect(actorsOf('addRule')).toEqual(['human:ada', 'host', user])
  // The denied tries of the agent are one entry: equal ones are counted.
  expect(actorsOf('answer')).toEqual(['session:s1', 'human:ada', user, 'human:ada'])
})

async function connected(to: Parameters<typeof connect>[0]): Promise<Reeve> {
  const reeve = await connect(to)
  onTestFinished(() => reeve.close())
  return reeve
}
