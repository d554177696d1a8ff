import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect, type InputOf, type Reeve } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { TokenFile } from '../../src/daemon/token-file.ts'
import { CommandLine } from './command-line.ts'

type Spawn = Extract<InputOf<'spawn'>, { kind: 'command' }>

interface Asking {
  readonly reeve: CommandLine
  /** The session that asks. */
  readonly agent: Reeve
  readonly url: string
  /** The token of a person. */
  readonly token: string
}

/** A daemon with an agent, whose `touch` is asked about. */
async function asking(...more: readonly string[][]): Promise<Asking> {
  const reeve = new CommandLine()
  const { temp } = reeve
  await reeve.run(['up', '-d', '--listen', '127.0.0.1:0'])
  for (const rule of [['ask', 'shell:touch'], ...more]) await reeve.run(['policy', 'add', ...rule])
  await reeve.run(['session', 'open', 's1'])
  const url = temp.announced()?.url ?? ''
  const tokens = new TokenFile(temp.home)
  const agent = await connect({ url, token: tokens.create({ role: 'agent', session: 's1' }).token })
  onTestFinished(() => agent.close())
  return { reeve, agent, url, token: tokens.create({ role: 'operate', person: 'ada' }).token }
}

function touch(reeve: CommandLine, name: string, more: Partial<Spawn> = {}): Spawn {
  return { kind: 'command', spec: { argv: ['touch', name] }, cwd: reeve.temp.folder, ...more }
}

/** The id of the approval that a process waits for; null if it may begin. */
async function gateOf(agent: Reeve, request: Spawn): Promise<string | null> {
  const { record } = await agent.spawn(request)
  return record.gate?.state === 'pending' ? record.gate.approval : null
}

test('for the session, the same action is not asked about again, and every other one is', async () => {
  const { reeve, agent } = await asking()
  const { folder } = reeve.temp
  const id = await gateOf(agent, touch(reeve, 'a', { reason: 'it is missing\nrule  r9 of home: allow' }))
  const card = (await reeve.run(['approvals', id ?? ''])).stdout
  for (const shown of [
    '["touch","a"]',
    folder,
    'session:s1',
    'it is missing',
    '$PATH',
    '--for session | --for always',
    'ask  execute shell:touch',
    'of home: allow  execute shell:/',
  ])
    expect(card).toContain(shown)
  expect(card.match(/^rule /gm)).toHaveLength(1)
  const above = { kind: 'external', spec: { description: 'x' }, name: 'builder' } as const
  const { pid: parent } = (await agent.spawn(above)).record
  const below = await gateOf(agent, touch(reeve, 'below', { parent }))
  expect((await reeve.run(['approvals', below ?? ''])).stdout).toContain(
    `session:s1 below builder (${parent})`,
  )
  expect(await reeve.run(['approvals', 'show'])).toMatchObject({ code: 2 })
  const tried = await reeve.run(['run', '-d', '--as', 'session:s1', '--', 'touch', 'z'])
  expect((await reeve.run(['show', tried.stdout.trim()])).stdout).toContain('waiting for approval')
  const { pid } = (await agent.approval({ id: id ?? '' })).approval
  expect((await reeve.run(['show', pid])).stdout).toMatch(/^registered /m)
  for (const verb of ['approve', 'deny']) {
    const named = await reeve.run([verb, pid])
    expect(named).toMatchObject({ code: 3, stderr: expect.stringContaining(`reeve approve ${id}`) })
  }
  const approved = await reeve.run(['approve', id ?? '', '--for', 'session'])
  expect(approved).toMatchObject({ code: 0, stdout: expect.stringContaining('for session') })
  expect(await gateOf(agent, touch(reeve, 'a'))).toBe(null)
  const kept = (await reeve.json<{ id: string; subject: string }[]>('policy')).find(({ id }) => id !== 'r1')
  const elsewhere = await reeve.run(['policy', 'remove', kept?.id ?? ''])
  expect(elsewhere.stderr).toContain(`reeve policy remove ${kept?.id} --session s1`)
  await mkdir(join(folder, 'other'))
  const changed: readonly (readonly [what: string, request: Spawn])[] = [
    ['argv', touch(reeve, 'b')],
    ['one more argument', touch(reeve, 'a', { spec: { argv: ['touch', 'a', '-c'] } })],
    ['a line instead of arguments', touch(reeve, 'a', { spec: { run: 'touch a' } })],
    ['environment', touch(reeve, 'a', { spec: { argv: ['touch', 'a'], env: { A: '1' } } })],
    ['cwd', touch(reeve, 'a', { cwd: join(folder, 'other') })],
    ['stdin', touch(reeve, 'a', { spec: { argv: ['touch', 'a'], stdin: { text: 'x' } } })],
    [
      'the check of its readiness',
      touch(reeve, 'a', { spec: { argv: ['touch', 'a'], ready: { command: 'touch b' } } }),
    ],
  ]
  for (const [what, request] of changed)
    expect([what, (await gateOf(agent, request)) !== null]).toEqual([what, true])
  expect(await gateOf(agent, touch(reeve, 'a'))).toBe(null)
  const secret = 'kx82-Qm4v-77Zt-pLw9'
  const env = { DEPLOY_TOKEN: secret }
  const hidden = await gateOf(agent, touch(reeve, 'a', { spec: { argv: ['touch', secret], env } }))
  const masked = (await reeve.run(['approvals', hidden ?? ''])).stdout
  expect(masked).toContain('$DEPLOY_TOKEN')
  expect(masked).not.toContain(secret)
})

test('always shows its rule first, stores it, and answers what waits for the same action', async () => {
  const { reeve, agent } = await asking()
  const [first, twin, other] = [
    await gateOf(agent, touch(reeve, 'a')),
    await gateOf(agent, touch(reeve, 'a')),
    await gateOf(agent, touch(reeve, 'b')),
  ]
  const unread = await reeve.run(['approve', first ?? '', '--for', 'always'])
  expect(unread).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
  expect((await reeve.run(['approve', first ?? '', '--for', 'always', '--yes'])).code).toBe(0)
  const [rule] = (await reeve.json<{ id: string; text: string }[]>('policy')).filter(({ id }) => id !== 'r1')
  expect(rule?.text).toMatch(/^allow {2}execute shell:\/\S*touch a {2}only the action/)
  const settled = await agent.approval({ id: twin ?? '' })
  expect(settled.approval.answer).toMatchObject({ type: 'approved', rule: { subject: 'home', id: rule?.id } })
  expect((await agent.approval({ id: other ?? '' })).approval.state).toBe('pending')
  expect(await gateOf(agent, touch(reeve, 'a'))).toBe(null)
  await reeve.run(['policy', 'remove', rule?.id ?? ''])
  expect(await gateOf(agent, touch(reeve, 'a'))).not.toBe(null)
  const wrapped = await gateOf(agent, touch(reeve, 'a', { spec: { run: 'nohup touch a' } }))
  const refused = await reeve.run(['approve', wrapped ?? '', '--for', 'always', '--yes'])
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('cannot be approved with always'),
  })
})

test('always stores its rule in the workspace, and answers what waits there', async () => {
  const { reeve, agent } = await asking()
  const [first, twin] = [await gateOf(agent, touch(reeve, 'a')), await gateOf(agent, touch(reeve, 'a'))]
  const always = ['approve', first ?? '', '--for', 'always', '--yes', '--in']
  expect(await reeve.run([...always, 'house'])).toMatchObject({ code: 2 })
  expect(await reeve.run(['approve', first ?? '', '--in', 'workspace'])).toMatchObject({ code: 2 })
  expect((await reeve.run([...always, 'workspace'])).code).toBe(0)
  const rules = await reeve.json<{ id: string; subject: string }[]>('policy')
  const rule = rules.find(({ id }) => id.startsWith('always-'))
  expect(rule?.subject).toBe(`workspace:${await realpath(reeve.temp.folder)}`)
  await expect
    .poll(async () => (await agent.approval({ id: twin ?? '' })).approval.answer)
    .toMatchObject({ type: 'approved', rule: { id: rule?.id } })
  expect(await gateOf(agent, touch(reeve, 'a'))).toBe(null)
  const removed = await reeve.run(['policy', 'remove', rule?.id ?? '', '--workspace', reeve.temp.folder])
  expect(removed.code).toBe(0)
  expect(await gateOf(agent, touch(reeve, 'a'))).not.toBe(null)
})

test('at a terminal the person reads the rule and says yes to it', async () => {
  const { reeve, agent } = await asking()
  const id = (await gateOf(agent, touch(reeve, 'a'))) ?? ''
  const declined = reeve.terminal(['approve', id, '--for', 'always'])
  await declined.until('[y/N]')
  expect(declined.shown).toMatch(
    /always-\S+ of home: allow {2}execute shell:\S+touch a {2}only this exact action/,
  )
  declined.type('\r')
  expect(await declined.ended).toBe(1)
  expect((await agent.approval({ id })).approval.state).toBe('pending')
  const accepted = reeve.terminal(['approve', id, '--for', 'always'])
  await accepted.until('[y/N]')
  accepted.type('y\r')
  expect(await accepted.ended).toBe(0)
  expect((await agent.approval({ id })).approval.answer).toMatchObject({ grant: 'always' })
  const { stdout } = await reeve.run(['policy', 'remove', 'r1'])
  expect(stdout).toContain('r1 of home: ask')
  expect(stdout).toMatch(/always-\S+ of home: allow/)
  expect(await reeve.json<unknown[]>('policy')).toEqual([])
})

test('an answer with changes runs what the person wrote, under the same pid', async () => {
  const { reeve, agent } = await asking(['deny', 'shell:rm'])
  const { folder } = reeve.temp
  const { record } = await agent.spawn(touch(reeve, 'a'))
  const id = record.gate?.approval ?? ''
  const denied = await reeve.run(['approve', id, '--spec', '{"argv":["rm","a"]}'])
  expect(denied).toMatchObject({ code: 4, stderr: expect.stringContaining('is denied') })
  const wrong = await reeve.run(['approve', id, '--spec', '{"argv":"touch"}'])
  expect(wrong.code).not.toBe(0)
  const untouched = await reeve.run(['approve', id, '--edit'], { env: { EDITOR: 'true', VISUAL: 'true' } })
  expect(untouched).toMatchObject({ code: 1, stderr: expect.stringContaining('Nothing was changed') })
  const same = await reeve.run(['approve', id, '--spec', '{"argv":["touch","a"]}'])
  expect(same.stderr).toContain('Nothing was changed')
  expect((await agent.approval({ id })).approval.state).toBe('pending')
  const editor = join(folder, 'editor')
  await writeFile(editor, `#!/bin/sh\nsed -i 's/"a"/"edited"/' "$1"\n`, { mode: 0o755 })
  const env = { EDITOR: editor, VISUAL: editor }
  const approved = await reeve.run(['approve', id, '--edit'], { env })
  expect(approved).toMatchObject({ code: 0, stdout: expect.stringContaining('approved with changes') })
  expect((await reeve.run(['wait', record.pid])).code).toBe(0)
  expect(await readFile(join(folder, 'edited'), 'utf8')).toBe('')
  const repeated = await reeve.run(['approve', id, '--spec', '{"argv":["touch","b"]}'])
  expect(repeated).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('what you gave now does not count'),
  })
  await expect(readFile(join(folder, 'a'))).rejects.toThrow('ENOENT')
  const shown = await agent.show({ pid: record.pid })
  expect([shown.spec, shown.effectiveSpec]).toEqual([{ argv: ['touch', 'a'] }, { argv: ['touch', 'edited'] }])
  const { stdout } = await reeve.run(['audit', '--json'])
  expect(stdout).toContain('"changed"')
  expect((await reeve.run(['show', record.pid])).stdout).toMatch(
    /^approved +with changes\nran instead +touch edited$/m,
  )
  expect((await reeve.run(['approvals', '--all'])).stdout).toMatch(
    /approved with changes .*ran instead: touch edited; asked for: execute shell:touch a/,
  )
  expect((await reeve.run(['approvals', id])).stdout).toContain('ran instead  {"argv":["touch","edited"]}')
  // A restart runs what ran, and is asked about.
  const again = await agent.restart({ pid: record.pid })
  expect(again.record.spec).toEqual({ argv: ['touch', 'edited'] })
  expect(again.record.gate?.state).toBe('pending')
})

test('several are answered at once, each with its own result, also over HTTP', async () => {
  const { reeve, agent, url, token } = await asking()
  const ids: string[] = []
  for (const name of ['a', 'b', 'c', 'd', 'e']) ids.push((await gateOf(agent, touch(reeve, name))) ?? '')
  const [a = '', b = '', c = '', d = '', e = ''] = ids
  const some = await reeve.run(['approve', a, 'a_none', b])
  expect(some.code).toBe(1)
  expect(some.stdout.match(/approved by/g)).toHaveLength(2)
  expect(some.stderr).toContain('a_none')
  expect((await reeve.run(['approve', c, d, '--for', 'session'])).code).toBe(2)
  const post = async (path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answer = await fetch(`${url}/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }
  const answered = await post('/approvals/answers', {
    answers: [
      { type: 'deny', id: c, advice: 'no' },
      { type: 'approve', id: a },
      { type: 'approve', id: 'a_none' },
    ],
  })
  expect(answered.body['results']).toMatchObject([
    { type: 'settled', id: c, approval: { answer: { type: 'denied', by: 'human:ada', advice: 'no' } } },
    { type: 'settled_before', id: a },
    { type: 'refused', id: 'a_none', code: 'approval_unknown' },
  ])
  expect(await post(`/approvals/${d}/approve`, { grant: 'process' })).toMatchObject({ status: 422 })
  expect(await post(`/approvals/${d}/approve`, { grant: 'session' })).toMatchObject({
    status: 200,
    body: { type: 'settled', approval: { answer: { grant: 'session', by: 'human:ada' } } },
  })
  const denied = await reeve.run(['deny', e, c, '--advice', 'not today'])
  expect(denied).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`${c} was denied by human:ada before`),
  })
  const contrary = await reeve.run(['approve', e])
  expect(contrary).toMatchObject({ code: 5, stdout: expect.stringContaining('and that stays') })
  expect((await reeve.run(['deny', a])).code).toBe(5)
  expect((await reeve.run(['approve', a, c])).code).toBe(5)
  const card = (await reeve.run(['approvals', e])).stdout
  expect(card).toMatch(/^advice +not today$/m)
  expect(card).not.toContain('reeve approve')
  expect(card).not.toContain('always stores')
})

test('a process in the place of an approval is answered with its approval, in every form of approve', async () => {
  const { reeve, agent } = await asking()
  const { record } = await agent.spawn({ ...touch(reeve, 'a'), name: 'toucher' })
  const id = record.gate?.approval ?? ''
  for (const words of [
    ['approve', 'toucher'],
    ['approve', record.pid, 'a_000000000000'],
    ['approve', 'toucher', '--edit'],
    ['approve', 'toucher', '--for', 'always', '--yes'],
    ['deny', 'toucher'],
  ]) {
    const refused = await reeve.run(words)
    expect(refused.code, words.join(' ')).not.toBe(0)
    expect(refused.stderr).toContain(`is a process that waits for ${id}.`)
  }
  for (const verb of ['approve', 'deny']) {
    const unknown = await reeve.run([verb, 'a_zzz'])
    expect(unknown).toMatchObject({ code: 3, stderr: expect.stringContaining('reeve approvals lists those') })
  }
  expect((await agent.approval({ id })).approval.state).toBe('pending')
})

test('a command that cannot start ends under a rule as it does without', async () => {
  const { reeve, agent, url, token } = await asking()
  const user = await connect({ url, token })
  onTestFinished(() => user.close())
  const variables = { TOKEN: { secret: 'that_is_not_set' } }
  const { envRef } = await user.putEnvironment({ variables, policy: {}, options: {} })
  const command: Spawn = { kind: 'command', spec: { argv: ['true'] } }
  for (const request of [
    { ...command, envRef },
    { ...command, cwd: '/nowhere/at/all' },
  ]) {
    const outcomes = await Promise.all(
      [agent, user].map(async (caller) => {
        const { record } = await caller.spawn(request)
        const ended = await caller.wait({ pid: record.pid })
        return ended.type === 'ended' ? ended.record.outcome : null
      }),
    )
    expect(outcomes[0]).toMatchObject({ status: 'failed' })
    expect(outcomes[0]?.reason).toBe(outcomes[1]?.reason)
  }
  const asked = await agent.spawn(touch(reeve, 'a', { cwd: '/nowhere/at/all' }))
  await reeve.run(['approve', asked.record.gate?.approval ?? ''])
  const failed = await agent.wait({ pid: asked.record.pid })
  expect(failed).toMatchObject({ type: 'ended', record: { outcome: { status: 'failed' } } })
})
