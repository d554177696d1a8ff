import { fileURLToPath } from 'node:url'
import { connect, type Reeve, type ReeveVerbs, type VerbName } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { TokenFile } from '../../src/daemon/token-file.ts'
import type { Daemon } from '../../src/daemon/up.ts'
import { TOKEN_ROLES } from '../../src/server/tokens.ts'
import { requestTo } from '../../src/verbs/request.ts'
import { routes } from '../../src/verbs/routes.ts'
import { CommandLine } from '../cli/command-line.ts'
import { textOf } from '../command/read-output.ts'
import { call, ERAS, overHttp, overStdio } from '../mcp/connected.ts'
import { ask } from '../server/ask.ts'
import { TempReeve } from '../temp-reeve.ts'
import { authorityIn } from './ruled-reeve.ts'
import { attempts, codeIn, GUARDED, VERB_TABLE } from './verb-table.ts'

/**
 * Every door × every caller: no agent, and nothing that belongs to one, answers a request or changes a rule. `verb-table.ts` has
 * the verbs, and its test fails for a verb or a door that is missing here. `acp-door.proc.ts` tries the door of editors.
 */

const OUTSIDE = { kind: 'external', spec: { description: 'x' } } as const
const INSIDE = fileURLToPath(new URL('../fixtures/inside.ts', import.meta.url))
const RULE = { id: 'asked', effect: 'ask', resource: 'tool:deploy' }

type Attempts = ReturnType<typeof attempts>
type Guarded = keyof Attempts

/** The code of the refusal of each attempt. */
type Codes = { readonly [verb: string]: string }

interface Asked {
  readonly temp: TempReeve
  readonly daemon: Daemon
  readonly person: Reeve
  readonly attempts: Attempts
  /** Everything that belongs to the asker, and another session. */
  readonly callers: { readonly [who: string]: `session:${string}` | `process:${string}` }
}

/** A daemon in which a process of s1 waits for a permission, and another one for a reply. */
async function asked(): Promise<Asked> {
  const temp = new TempReeve()
  const daemon = await temp.up()
  const { reeve } = daemon
  const person = await connected({ home: temp.home.folder })
  await person.addRule({ rule: RULE })
  for (const session of ['s1', 's2']) await reeve.openSession({ session })
  const agent = reeve.as('session:s1')
  const below = async (parent?: string) =>
    (await agent.spawn({ ...OUTSIDE, ...(parent === undefined ? {} : { parent }) })).record.pid
  const parent = await below()
  const asker = await below(parent)
  const child = await below(asker)
  const waiting = await reeve.as(`process:${asker}`).spawn({ ...deploy(), parent: asker })
  const question = await reeve.as(`process:${asker}`).ask({ question: 'Now?', parent: asker })
  return {
    temp,
    daemon,
    person,
    attempts: attempts({
      permission: waiting.record.gate?.approval ?? '',
      question: question.approval,
    }),
    callers: {
      'the asking session': 'session:s1',
      'another session': 'session:s2',
      'the asking process': `process:${asker}`,
      'its parent': `process:${parent}`,
      'its child': `process:${child}`,
      'the process that waits': `process:${waiting.record.pid}`,
    },
  }
}

const deploy = () => ({ kind: 'tool', spec: { tool: 'deploy', input: null } }) as const

async function connected(to: Parameters<typeof connect>[0]): Promise<Reeve> {
  const reeve = await connect(to)
  onTestFinished(() => reeve.close())
  return reeve
}

/** Tries every guarded verb. */
async function tryAll(
  inputs: Attempts,
  act: (verb: Guarded, input: Attempts[Guarded]) => Promise<string>,
): Promise<Codes> {
  const codes: Record<string, string> = {}
  for (const verb of Object.keys(inputs) as Guarded[]) codes[verb] = await act(verb, inputs[verb])
  return codes
}

/** Through the interface of a program: embedded, or over the wire. */
function through(reeve: ReeveVerbs, inputs: Attempts): Promise<Codes> {
  return tryAll(inputs, async (verb, input) => {
    const verbOf = reeve[verb] as (input: unknown) => Promise<unknown>
    return verbOf(input).then(codeIn, (error: { code?: string }) => error.code ?? String(error))
  })
}

/** Through HTTP, on the address with a token or on the socket without one. */
function byHttp(daemon: Daemon, inputs: Attempts, how: Parameters<typeof ask>[2]): Promise<Codes> {
  return tryAll(inputs, async (verb, input) => {
    const { method, path, body } = requestTo(routes[verb as VerbName].route, { ...input })
    const said = await ask(daemon, `${method} /v1${path}`, {
      ...how,
      ...(body === undefined ? {} : { raw: body }),
      headers: { 'content-type': 'application/json', ...how?.headers },
    })
    return said.status === 200 ? codeIn(said.json) : String(said.json.code)
  })
}

/** The same code for each verb of a sort. */
function codes(answers: string, rules: string): Codes {
  return Object.fromEntries(
    GUARDED.map((verb) => [verb, VERB_TABLE[verb as Guarded] === 'answers' ? answers : rules]),
  )
}

test('no caller that belongs to the asker answers or changes a rule: embedded, over the wire, on the socket and with a token', async () => {
  const { temp, daemon, person, attempts: inputs, callers } = await asked()
  const { token: admin } = new TokenFile(temp.home).create({ role: 'admin', person: 'ada' })
  const withToken = await connected({ url: daemon.url ?? '', token: admin })
  const before = await authorityIn(daemon.reeve)
  for (const [who, actor] of Object.entries(callers)) {
    const refused = codes('denied', 'denied')
    expect([who, await through(daemon.reeve.as(actor), inputs)]).toEqual([who, refused])
    expect([who, await through(person.as(actor), inputs)]).toEqual([who, refused])
    expect([who, await through(withToken.as(actor), inputs)]).toEqual([who, refused])
    const headers = { 'reeve-as': actor, 'reeve-person': '1' }
    expect([who, await byHttp(daemon, inputs, { headers })]).toEqual([who, refused])
    expect([who, await byHttp(daemon, inputs, { headers, token: admin })]).toEqual([who, refused])
    expect([who, await through(daemon.reeve.observing(actor), inputs)]).toEqual([
      who,
      codes('denied', 'denied'),
    ])
  }
  expect(await authorityIn(daemon.reeve)).toEqual(before)
})

/** What a token may do, by its role, without a person and with one. Null: it is not tried, because it is the operator's own. */
const BY_ROLE: { readonly [role: string]: { readonly alone: Codes; readonly withPerson: Codes } } = {
  read: { alone: codes('forbidden', 'forbidden'), withPerson: codes('forbidden', 'forbidden') },
  operate: { alone: codes('person_required', 'forbidden'), withPerson: codes('accepted', 'forbidden') },
  admin: { alone: codes('person_required', 'accepted'), withPerson: codes('accepted', 'accepted') },
  agent: { alone: codes('denied', 'forbidden'), withPerson: codes('denied', 'forbidden') },
}

test.for(TOKEN_ROLES)(
  'a token of the role %s answers only if it names a person, and never as an agent',
  async (role) => {
    const expected = BY_ROLE[role]
    if (expected === undefined) throw new Error(`The role ${role} is missing in the door table`)
    const { temp, daemon, attempts: inputs } = await asked()
    const tokens = new TokenFile(temp.home)
    const session = role === 'agent' ? { session: 's1' } : {}
    const { token: alone } = tokens.create({ role, ...session })
    const before = await authorityIn(daemon.reeve)
    // The operator's own token changes rules: those are its attempts with a person, below.
    const harmless = role === 'admin' ? withoutRules(inputs) : inputs
    const only = (all: Codes) =>
      Object.fromEntries(Object.entries(all).filter(([verb]) => Object.hasOwn(harmless, verb)))
    for (const headers of [{}, { 'reeve-person': '1' }])
      expect(await byHttp(daemon, harmless, { token: alone, headers })).toEqual(only(expected.alone))
    expect(await through(await connected({ url: daemon.url ?? '', token: alone }), harmless)).toEqual(
      only(expected.alone),
    )
    expect(await through(await connected({ home: temp.home.folder, token: alone }), harmless)).toEqual(
      only(expected.alone),
    )
    expect(await authorityIn(daemon.reeve)).toEqual(before)
    const approver = role === 'agent' ? { approver: true as const } : {}
    const { token } = tokens.create({ role, ...session, ...approver, person: 'ada' })
    expect(await byHttp(daemon, inputs, { token })).toEqual(expected.withPerson)
    if (!Object.values(expected.withPerson).includes('accepted'))
      expect(await authorityIn(daemon.reeve)).toEqual(before)
  },
)

function withoutRules(inputs: Attempts): Attempts {
  const answering = Object.entries(inputs).filter(([verb]) => VERB_TABLE[verb as Guarded] === 'answers')
  return Object.fromEntries(answering) as Attempts
}

test('on the socket a caller that does not say that a person calls answers nothing and changes no rule', async () => {
  const { daemon, attempts: inputs } = await asked()
  const before = await authorityIn(daemon.reeve)
  expect(await byHttp(daemon, inputs, {})).toEqual(codes('person_required', 'person_required'))
  expect(await authorityIn(daemon.reeve)).toEqual(before)
  expect(await byHttp(daemon, inputs, { headers: { 'reeve-person': '1' } })).toEqual(
    codes('accepted', 'accepted'),
  )
})

test('no client says by itself that it is a person or a kernel', async () => {
  const { temp, daemon, attempts: inputs } = await asked()
  const { token } = new TokenFile(temp.home).create({ role: 'admin' })
  const before = await authorityIn(daemon.reeve)
  for (const actor of ['human:ada', 'human:host', 'kernel:k1', 'session:', 'nobody'])
    for (const how of [{}, { token }]) {
      const headers = { 'reeve-as': actor, 'reeve-person': '1' }
      const refused = codes('bad_request', 'bad_request')
      expect([actor, await byHttp(daemon, inputs, { ...how, headers })]).toEqual([actor, refused])
    }
  expect(await authorityIn(daemon.reeve)).toEqual(before)
})

test.for(ERAS)('in the %s era no MCP tool of an agent answers or changes a rule', async (era) => {
  const { daemon, person, callers } = await asked()
  const { reeve } = daemon
  const [permission] = (await person.approvals()).approvals
  const before = await authorityIn(reeve)
  const caller = { role: 'agent', actor: callers['the asking session'] ?? 'host', tokenId: 't' } as const
  const clients = [
    await overStdio(person, { era }),
    await overHttp(reeve, { era, caller: { person: null, approver: false, ...caller } }),
  ]
  const words = [
    ...GUARDED.flatMap((verb) => [verb, snakeCase(verb), `process_${verb}`, `approval_${verb}`]),
    // An operator's client has these.
    ...['approval_list', 'approval_answer'],
  ]
  for (const client of clients) {
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name).filter((name) => words.includes(name))).toEqual([])
    for (const name of words) {
      const answer = await client
        .callTool({ name, arguments: { id: permission?.id } })
        .catch(() => ({ isError: true }))
      expect([name, answer.isError]).toEqual([name, true])
    }
    await call(client, 'process_list', {})
  }
  const after = await authorityIn(reeve)
  expect({ ...after, position: null }).toEqual({ ...before, position: null })
})

function snakeCase(verb: string): string {
  return verb.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

test('a command inside answers nothing with everything that Reeve gave it, and neither does the command line there', async () => {
  const temp = new TempReeve()
  const line = new CommandLine(temp)
  const daemon = await temp.up({ env: {} })
  const person = await connected({ home: temp.home.folder })
  await person.addRule({ rule: RULE })
  await person.openSession({ session: 's1' })
  const agent = daemon.reeve.as('session:s1')
  const permission = (await agent.spawn(deploy())).record.gate?.approval ?? ''
  const question = (await agent.ask({ question: 'Now?' })).approval
  const inputs = attempts({ permission, question })
  const before = await authorityIn(daemon.reeve)
  const run = async (argv: [string, ...string[]]) => {
    const env = { REEVE_HOME: temp.home.folder }
    const { pid } = (await agent.spawn({ kind: 'command', spec: { argv, env }, cwd: temp.folder })).record
    await person.wait({ pid, timeoutMs: 60_000 })
    return textOf(daemon.reeve, pid)
  }
  const said = await run([
    process.execPath,
    '--conditions=reeve-source',
    INSIDE,
    JSON.stringify(Object.entries(withoutRules(inputs))),
  ])
  const { found, variables } = JSON.parse(said) as { found: Record<string, Codes>; variables: string[] }
  for (const [door, refused] of Object.entries(found)) {
    const code = door.includes('own process') ? 'denied' : 'person_required'
    expect([door, refused]).toEqual([
      door,
      Object.fromEntries(Object.keys(refused).map((verb) => [verb, code])),
    ])
  }
  // It was given its own name, and no token.
  expect(variables.filter((name) => name.startsWith('REEVE_')).sort()).toEqual(
    expect.arrayContaining(['REEVE_HOME', 'REEVE_PROCESS']),
  )
  expect(variables.filter((name) => /TOKEN|SECRET/.test(name) && name.startsWith('REEVE_'))).toEqual([])
  const rules = await run([
    process.execPath,
    '--conditions=reeve-source',
    INSIDE,
    JSON.stringify(Object.entries(inputs).filter(([verb]) => VERB_TABLE[verb as Guarded] === 'rules')),
    'socket',
  ])
  const byRules = (JSON.parse(rules) as { found: Record<string, Codes> }).found
  for (const door of ['SDK on the socket', 'the socket by hand'])
    expect([door, new Set(Object.values(byRules[door] ?? {}))]).toEqual([door, new Set(['person_required'])])
  for (const words of [
    `approve ${permission}`,
    `call approve id=${permission}`,
    `reply ${question} yes`,
    'policy add allow tool:deploy',
    'call removeRule id=asked',
  ]) {
    const text = await run(['/bin/sh', '-c', `${line.called} ${words} 2>&1; echo "exit $?"`])
    expect(text, words).toMatch(/(is for people|person)[\s\S]*exit [1-9]/)
  }
  const after = await authorityIn(daemon.reeve)
  expect({ ...after, ...ignored }).toEqual({ ...before, ...ignored })
})

/** The commands of the attack are processes of their own. */
const ignored = { position: null, revisions: null }
