import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { connect, type Reeve } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { TokenFile } from '../../src/daemon/token-file.ts'
import { userName } from '../../src/os/user-name.ts'
import { until } from '../keeper/client.ts'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'
import { type Answering, call, ERAS, type Era, type ShownForm } from './connected.ts'
import { clientAtDaemon } from './daemon-client.ts'
import { killDaemon, reeveMcp } from './reeve-mcp.ts'

interface Begun {
  process: { pid: string }
}

/** Appends a line: every run of it leaves one. */
const APPEND = { run: 'echo line | tee -a made' }

/** Waits until it has ended: a call waits for a limited time, and a busy machine may need several. */
async function endOf(client: Client, pid: string): Promise<{ text: string }> {
  for (;;) {
    const waited = await call<{ finished: boolean }>(client, 'process_wait', { pid, timeoutMs: 40_000 })
    if (!waited.text.includes('Not yet')) return waited
  }
}

function linesIn(folder: string): string {
  try {
    return readFileSync(join(folder, 'made'), 'utf8')
  } catch {
    return ''
  }
}

async function personAt(temp: TempReeve): Promise<Reeve> {
  const person = await connect({ home: temp.home.folder })
  onTestFinished(() => person.close())
  await person.addRule({
    rule: { effect: 'ask', resource: 'shell:tee', justification: 'files are reviewed' },
  })
  return person
}

async function answered(person: Reeve) {
  const { approvals } = await person.approvals({ state: 'any' })
  return approvals.map(({ answer }) => answer)
}

/** `reeve mcp` of a home whose settings say that a person sits at its clients. */
async function stdioClient(temp: TempReeve, era: Era, cwd: string, person: Answering): Promise<Client> {
  const client = await reeveMcp(temp, { era, cwd, person, env: { REEVE_APPROVER: 'true' } })
  await call(client, 'process_list', {})
  return client
}

/** A client of `/mcp` with an agent's token. */
async function httpClient(
  temp: TempReeve,
  {
    era,
    url,
    cwd,
    person,
    approver,
  }: { era: Era; url: string; cwd: string; person: Answering; approver: boolean },
) {
  const seat = approver ? { person: 'ada', approver: true as const } : { person: 'ada' }
  const { token } = new TokenFile(temp.home).create({ role: 'agent', session: 's1', ...seat })
  return { token, ...(await clientAtDaemon({ url, token, era, folder: cwd, person })) }
}

/** A call of the modern era that brings an answer, as a client would repeat it after a question. */
async function forgeAnswer(url: string, token: string, pid: string, key: string): Promise<void> {
  const name = 'process_wait'
  const version = '2026-07-28'
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'tester', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
  }
  const inputResponses = { [key]: { action: 'accept', content: { decision: 'approve once' } } }
  const params = { name, arguments: { pid, timeoutMs: 0 }, inputResponses, _meta }
  const response = await fetch(new URL('/mcp', url), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  })
  expect(await response.text()).toContain('Not yet')
}

for (const era of ERAS) {
  test(`in the ${era} era the person at reeve mcp sees the exact action, and lets it run once`, async () => {
    const temp = new TempReeve()
    const cwd = tempFolder()
    const shown: ShownForm[] = []
    const client = await stdioClient(temp, era, cwd, async (form) => {
      shown.push(form)
      return { action: 'accept', content: { decision: 'approve once' } }
    })
    const person = await personAt(temp)
    const { structured, text } = await call<Begun>(client, 'process_start', { ...APPEND, waitMs: 30_000 })
    expect(text).toContain('A person has been asked. You will be told in the inbox.')
    expect(text).toContain('files are reviewed')
    const ended = await endOf(client, structured.process.pid)
    expect(ended.text).toContain('completed')
    expect(linesIn(cwd)).toBe('line\n')
    expect(shown).toHaveLength(1)
    expect(shown[0]?.message).toContain(`Run: ${APPEND.run}`)
    expect(shown[0]?.message).toContain(`Folder: ${cwd}`)
    expect(shown[0]?.message).toContain('files are reviewed')
    expect(shown[0]?.requestedSchema.properties['decision']?.enum).not.toContain('always')
    expect(await answered(person)).toMatchObject([
      { type: 'approved', grant: 'once', by: `human:${userName()}` },
    ])
  })

  test(`in the ${era} era over HTTP the person of an agent's token denies, and the model reads the advice once`, async () => {
    const temp = new TempReeve()
    const { url } = await temp.up()
    const person = await personAt(temp)
    const { client } = await httpClient(temp, {
      ...{ era, url: url ?? '', cwd: tempFolder(), approver: true },
      person: async () => ({ action: 'accept', content: { decision: 'deny', advice: 'Use print.' } }),
    })
    const { structured } = await call<Begun>(client, 'process_start', APPEND)
    const { pid } = structured.process
    const ended = await endOf(client, pid)
    expect(ended.text).toContain('A person denied it, so it was not started: Use print.')
    expect(await answered(person)).toMatchObject([{ type: 'denied', by: 'human:ada', advice: 'Use print.' }])
    expect((await call(client, 'inbox')).text).not.toContain('Use print.')
  })

  test(`in the ${era} era an approval for the session asks no more about the same action`, async () => {
    const temp = new TempReeve()
    const { url } = await temp.up()
    const person = await personAt(temp)
    const shown: ShownForm[] = []
    const cwd = tempFolder()
    const { client } = await httpClient(temp, {
      ...{ era, url: url ?? '', cwd, approver: true },
      person: async (form) => {
        shown.push(form)
        return { action: 'accept', content: { decision: 'approve for this session' } }
      },
    })
    for (const lines of ['line\n', 'line\nline\n']) {
      const { structured } = await call<Begun>(client, 'process_start', APPEND)
      const ended = await endOf(client, structured.process.pid)
      expect(ended.text).toContain('completed')
      expect(linesIn(cwd)).toBe(lines)
    }
    expect(shown).toHaveLength(1)
    expect(await answered(person)).toMatchObject([{ type: 'approved', grant: 'session', by: 'human:ada' }])
  })

  test(`in the ${era} era a client without an approver is asked nothing, and its answers do not count`, async () => {
    const temp = new TempReeve()
    const { url } = await temp.up()
    const person = await personAt(temp)
    const shown: ShownForm[] = []
    const { client, token } = await httpClient(temp, {
      ...{ era, url: url ?? '', cwd: tempFolder(), approver: false },
      person: async (form) => {
        shown.push(form)
        return { action: 'accept', content: { decision: 'approve once' } }
      },
    })
    const { structured } = await call<Begun>(client, 'process_start', APPEND)
    const { pid } = structured.process
    // Longer than a push would be delayed.
    const waited = await call(client, 'process_wait', { pid, timeoutMs: 3_000 })
    expect(waited.text).toMatch(/^Not yet: .* waits for the approval of a person \(a_\w+, asked .* ago\)/)
    const [approval] = (await person.approvals()).approvals
    await forgeAnswer(url ?? '', token, pid, `approval:${approval?.id}`)
    expect(shown).toEqual([])
    expect((await person.approvals()).approvals).toMatchObject([{ id: approval?.id, state: 'pending' }])
    const { tools } = await client.listTools()
    expect(tools.filter(({ name }) => name.startsWith('approval'))).toEqual([])
    expect(
      await call(client, 'approval_answer', { id: approval?.id, answer: 'approve' }).catch(() => 'refused'),
    ).toBe('refused')
  })

  test(`in the ${era} era a closed form is no answer: the approval waits for another one`, async () => {
    const temp = new TempReeve()
    const cwd = tempFolder()
    let shown = 0
    const client = await stdioClient(temp, era, cwd, async () => {
      shown++
      return { action: 'decline' }
    })
    const person = await personAt(temp)
    const { structured } = await call<Begun>(client, 'process_start', APPEND)
    const { pid } = structured.process
    const first = await call(client, 'process_wait', { pid, timeoutMs: 4_000 })
    expect(first.text).toContain('Not yet')
    await until('the form was shown', () => shown === 1)
    await call(client, 'process_wait', { pid, timeoutMs: 100 })
    expect(shown).toBe(1)
    const [approval] = (await person.approvals()).approvals
    await person.approve({ id: approval?.id ?? '' })
    expect((await endOf(client, pid)).text).toContain('completed')
    expect(linesIn(cwd)).toBe('line\n')
  })

  test(`in the ${era} era a daemon that is killed between question and answer runs the command once`, async () => {
    const temp = new TempReeve()
    const cwd = tempFolder()
    const client = await stdioClient(temp, era, cwd, async () => {
      await killDaemon(temp)
      return { action: 'accept', content: { decision: 'approve once' } }
    })
    await personAt(temp)
    const { structured } = await call<Begun>(client, 'process_start', APPEND)
    const { pid } = structured.process
    const ended = await endOf(client, pid)
    expect(ended.text).toContain('completed')
    expect(linesIn(cwd)).toBe('line\n')
  })
}

test('in the legacy era the form is shown while no call waits, and is withdrawn when another answer comes first', async () => {
  const temp = new TempReeve()
  const cwd = tempFolder()
  const shown = Promise.withResolvers<void>()
  const withdrawn = Promise.withResolvers<void>()
  const client = await stdioClient(temp, 'legacy', cwd, async (_, signal) => {
    shown.resolve()
    signal.addEventListener('abort', () => withdrawn.resolve())
    await withdrawn.promise
    return { action: 'accept', content: { decision: 'deny' } }
  })
  const person = await personAt(temp)
  const { structured } = await call<Begun>(client, 'process_start', APPEND)
  await shown.promise
  const [approval] = (await person.approvals()).approvals
  await person.approve({ id: approval?.id ?? '' })
  await withdrawn.promise
  const { pid } = structured.process
  expect((await endOf(client, pid)).text).toContain('completed')
  expect(linesIn(cwd)).toBe('line\n')
})

test('in the legacy era over HTTP a client that opens no stream is asked on that of its wait', async () => {
  const temp = new TempReeve()
  const { url } = await temp.up()
  const person = await personAt(temp)
  const cwd = tempFolder()
  const { token } = new TokenFile(temp.home).create({
    ...{ role: 'agent', session: 's1', person: 'ada', approver: true },
  })
  const { client } = await clientAtDaemon({
    ...{ url: url ?? '', token, era: 'legacy', folder: cwd, isDeaf: true },
    person: async () => ({ action: 'accept', content: { decision: 'approve once' } }),
  })
  const { structured } = await call<Begun>(client, 'process_start', APPEND)
  const ended = await endOf(client, structured.process.pid)
  expect(ended.text).toContain('completed')
  expect(await answered(person)).toMatchObject([{ type: 'approved', by: 'human:ada' }])
})

test('in the modern era a late answer is told the recorded decision', async () => {
  const temp = new TempReeve()
  const cwd = tempFolder()
  const person = Promise.withResolvers<Reeve>()
  const client = await stdioClient(temp, 'modern', cwd, async () => {
    const elsewhere = await person.promise
    const [approval] = (await elsewhere.approvals()).approvals
    await elsewhere.deny({ id: approval?.id ?? '', advice: 'Not today.' })
    return { action: 'accept', content: { decision: 'approve once' } }
  })
  person.resolve(await personAt(temp))
  const { structured } = await call<Begun>(client, 'process_start', APPEND)
  const ended = await endOf(client, structured.process.pid)
  expect(ended.text).toMatch(/a_\w+ was settled before this answer: denied by human:.*Not today\./)
  expect(linesIn(cwd)).toBe('')
})

test('in the legacy era over HTTP the next daemon asks again, after one that was killed while the form was open', async () => {
  const temp = new TempReeve()
  const cwd = tempFolder()
  const first = await temp.start()
  const url = first.url ?? ''
  await personAt(temp)
  const opened = Promise.withResolvers<void>()
  let shown = 0
  const { client } = await httpClient(temp, {
    ...{ era: 'legacy' as const, url, cwd, approver: true },
    person: async (_, signal) => {
      if (++shown > 1) return { action: 'accept', content: { decision: 'approve once' } }
      opened.resolve()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return { action: 'cancel' }
    },
  })
  const { structured } = await call<Begun>(client, 'process_start', APPEND)
  await opened.promise
  await first.kill()
  await temp.start(['--listen', new URL(url).host])
  const { pid } = structured.process
  expect((await endOf(client, pid)).text).toContain('completed')
  expect(shown).toBe(2)
  expect(linesIn(cwd)).toBe('line\n')
})
