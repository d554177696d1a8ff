import { connect } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { TokenFile } from '../../src/daemon/token-file.ts'
import { userName } from '../../src/os/user-name.ts'
import { CommandLine } from './command-line.ts'

test('a rule is added, listed and removed', async () => {
  const reeve = new CommandLine()
  const added = await reeve.run([
    'policy',
    'add',
    'ask',
    'shell:git',
    '--args',
    'push',
    '--because',
    'reviewed',
  ])
  expect(added).toMatchObject({
    code: 0,
    stdout: 'Added r1 of home: ask  execute shell:git push  "reviewed"\n',
  })
  expect((await reeve.run(['policy'])).stdout).toContain('ask  execute shell:git push  "reviewed"')
  expect((await reeve.run(['policy', 'remove', 'r1'])).stdout).toContain('Removed r1 of home')
  expect((await reeve.run(['policy'])).stdout).toBe(
    'There are no rules: agents do what their sessions may do.\n',
  )
})

test('a wrong rule is refused with what is wrong', async () => {
  const reeve = new CommandLine()
  for (const [args, said] of [
    [['ask', 'shel:git'], 'shell'],
    [['forbid', 'shell:git'], 'effect'],
    [['ask', 'shell:git', '--args', 'push', '--match', 'git status'], 'git status'],
    [['ask'], 'an effect and a resource'],
  ] as const) {
    const refused = await reeve.run(['policy', 'add', ...args])
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain(said)
  }
  expect((await reeve.run(['policy'])).stdout).toContain('There are no rules')
})

test('what an agent asks for is listed, and answered from the command line', async () => {
  const reeve = new CommandLine()
  const { temp } = reeve
  await reeve.run(['up', '-d', '--listen', '127.0.0.1:0'])
  await reeve.run(['policy', 'add', 'ask', 'shell:touch', '--because', 'new files are reviewed'])
  await reeve.run(['session', 'open', 's1', '--label', 'the editor'])
  const { token } = new TokenFile(temp.home).create({ role: 'agent', session: 's1' })
  const agent = await connect({ url: temp.announced()?.url ?? '', token })
  onTestFinished(() => agent.close())
  const [first, second] = await Promise.all(
    ['a', 'b'].map((name) =>
      agent.spawn({ kind: 'command', spec: { argv: ['touch', name] }, cwd: temp.folder }),
    ),
  )
  const listed = await reeve.run(['approvals'])
  expect(listed.stdout).toContain('the editor')
  expect(listed.stdout).toContain('execute shell:touch a (new files are reviewed)')
  const approvals = await reeve.json<{ id: string; pid: string }[]>('approvals')
  const idOf = (pid: string | undefined) => approvals.find((approval) => approval.pid === pid)?.id ?? ''
  const approved = await reeve.run(['approve', idOf(first?.record.pid)])
  expect(approved).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`approved by human:${userName()}`),
  })
  await reeve.run(['deny', idOf(second?.record.pid), 'Use', 'another', 'name.'])
  expect((await reeve.run(['wait', first?.record.pid ?? ''])).code).toBe(0)
  const { outcome } = await agent.show({ pid: second?.record.pid ?? '' })
  expect(outcome).toMatchObject({ reason: 'approval_denied', result: { advice: 'Use another name.' } })
  expect((await reeve.run(['approvals'])).stdout).toBe('No approval waits for an answer.\n')
})

test('a trial as a session asks about the command of the rule, and about no other one', async () => {
  const reeve = new CommandLine()
  await reeve.run(['policy', 'add', 'ask', 'shell:git', '--args', 'push'])
  await reeve.run(['session', 'open', 's1'])
  const tried = async (...words: string[]) =>
    (await reeve.run(['run', '-d', '--as', 'session:s1', '--', ...words])).stdout.trim()
  const harmless = [await tried('ls'), await tried('sh', '-c', 'ls | head -1')]
  const asked = await tried('git', 'push')
  const approvals = await reeve.json<{ pid: string }[]>('approvals')
  expect(approvals.map(({ pid }) => pid)).toEqual([asked])
  for (const pid of harmless) expect((await reeve.run(['wait', pid])).code).toBe(0)
  expect((await reeve.run(['policy', 'explain', 'ls | head -1'])).stdout).toMatch(/^Allowed/)
})

test('a request that only may be what a rule is about says why, in the list and in full', async () => {
  const reeve = new CommandLine()
  await reeve.run(['policy', 'add', 'ask', 'shell:git', '--args', 'push', '--because', 'reviewed'])
  await reeve.run(['session', 'open', 's1'])
  for (const words of [
    ['node', '--test'],
    ['git', 'push'],
  ])
    await reeve.run(['run', '-d', '--as', 'session:s1', '--', ...words])
  const doubt = 'node runs programs that are not analysed'
  const listed = (await reeve.run(['approvals'])).stdout.split('\n')
  expect(listed.find((line) => line.includes('shell:node'))).toContain(
    `execute shell:node --test (reviewed); the rule may apply: ${doubt}`,
  )
  expect(listed.find((line) => line.includes('git push'))).not.toContain('may apply')
  const approvals = await reeve.json<{ id: string; request: { doubt?: string } }[]>('approvals')
  expect(approvals.map(({ request }) => request.doubt)).toEqual([doubt, undefined])
  const [unsure, sure] = await Promise.all(
    approvals.map(async ({ id }) => (await reeve.run(['approvals', id])).stdout),
  )
  expect(unsure).toMatch(new RegExp(`^in doubt +${doubt}, so the rule may apply$`, 'm'))
  expect(sure).not.toContain('in doubt')
})

test('inside of a process of Reeve, nothing is answered and no rule is changed', async () => {
  const reeve = new CommandLine()
  const env = { REEVE_PROCESS: 'p_azzzzzzzzzzz@home' }
  for (const args of [
    ['approve', 'a_1'],
    ['deny', 'a_1'],
    ['policy', 'add', 'allow', 'shell:**'],
    ['policy', 'remove', 'r1'],
  ]) {
    const refused = await reeve.run(args, { env })
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain('is for people, and this runs inside of the process p_azzzzzzzzzzz')
  }
})
