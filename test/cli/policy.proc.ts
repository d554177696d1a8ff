import { mkdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { connect } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { TokenFile } from '../../src/daemon/token-file.ts'
import { tempFolder } from '../temp-folder.ts'
import { CommandLine } from './command-line.ts'

function policyIn(folder: string, text: string): string {
  mkdirSync(join(folder, '.reeve'), { recursive: true })
  const path = join(folder, '.reeve', 'policy.json')
  writeFileSync(path, text)
  return path
}

test('every part of a rule has an option', async () => {
  const reeve = new CommandLine()
  const added = await reeve.run([
    ...['policy', 'add', 'allow', 'shell:git', '--args', 'fetch', '--rights', 'execute', '--uses', '3'],
    ...['--expires', '1h', '--delegable', '2', '--host', 'here', '--env', 'CI', '--because', 'mirrors'],
    ...['--constraints', '{"hours":{"from":"09:00","to":"17:00"}}', '--match', 'git fetch --all'],
  ])
  expect(added).toMatchObject({ code: 0, stderr: '' })
  expect(added.stdout).toMatch(
    /^Added r1 of home: allow {2}execute shell:git fetch {2}variables CI; .*; until .*; 3 uses; delegable 2 deep {2}"mirrors"\n$/,
  )
  expect(added.stdout).toContain(`on ${hostname()}; until`)
  const asked = await reeve.run([
    'policy',
    'add',
    'ask',
    'shell:npm',
    '--requestable',
    '--reviewer',
    'careful',
  ])
  expect(asked.stdout).toContain('ask (requestable)  execute shell:npm  reviewer careful')
})

test('a rule for this host counts here, and one for another host does not', async () => {
  const reeve = new CommandLine()
  await reeve.run(['policy', 'add', 'deny', 'shell:false', '--host', 'here'])
  await reeve.run(['policy', 'add', 'deny', 'shell:true', '--host', 'elsewhere'])
  expect((await reeve.run(['policy', 'explain', 'false'])).stdout).toContain('Denied by r1 of home')
  expect((await reeve.run(['policy', 'explain', 'true'])).stdout).not.toContain('Denied')
})

test('a wrong part is refused with the nearest name, and changes nothing', async () => {
  const reeve = new CommandLine()
  for (const [args, said] of [
    [['add', 'ask', '*'], 'would cover everything'],
    [['add', 'ask', 'tol:x'], 'Did you mean tool'],
    [['add', 'ask', 'shell:git', '--rights', 'exectue'], 'Did you mean execute'],
    [['add', 'ask', 'shell:git', '--constraints', '{"agrs":["x"]}'], 'Did you mean args'],
    [['add', 'ask', 'shell:git', '--constraints', '[]'], 'no object'],
    [['add', 'deny', 'shell:git', '--uses', '1'], 'uses does not apply'],
    [['preset', 'edti'], 'Did you mean edit'],
    [['preset', 'sandboxed'], 'needs a sandbox'],
    [['preset', 'full', '--session', 'nope'], 'no session nope'],
    [['exlain', 'x'], 'Did you mean explain'],
    [['add', 'ask', 'shell:git', '--session', 'a', '--workspace', '.'], 'one of --session'],
  ] as const) {
    const refused = await reeve.run(['policy', ...args])
    expect([refused.code === 0, refused.stderr]).toEqual([false, expect.stringContaining(said)])
  }
  expect((await reeve.run(['policy'])).stdout).toContain('There are no rules')
})

test('a preset of a folder is set, explained and removed', async () => {
  const reeve = new CommandLine()
  const folder = tempFolder()
  const set = await reeve.run(['policy', 'preset', 'observe', '--workspace', folder])
  expect(set).toMatchObject({ code: 0, stdout: `workspace:${folder} has the preset observe\n` })
  const denied = await reeve.run(['policy', 'explain', 'git push', '--cwd', folder])
  expect(denied.stdout).toContain('Denied.')
  expect(denied.stdout).toContain(`is denied by workspace:${folder}`)
  expect((await reeve.run(['policy', 'preset', 'none', '--workspace', folder])).code).toBe(0)
  const free = await reeve.run(['policy', 'explain', 'git push', '--cwd', folder])
  expect(free.stdout).toContain('Allowed: no rule is about it.')
})

test('an explanation shows each command of a line with its rules', async () => {
  const reeve = new CommandLine()
  await reeve.run(['policy', 'add', 'ask', 'shell:git', '--args', 'push', '--because', 'reviewed'])
  const { stdout } = await reeve.run(['policy', 'explain', 'git status && git -C . push'])
  expect(stdout).toBe(
    [
      'A person is asked by r1 of home. reviewed',
      'allow execute shell:git status',
      'ask   execute shell:git push',
      '      r1 of home: ask  execute shell:git push  "reviewed"',
      '',
    ].join('\n'),
  )
  const opaque = await reeve.run(['policy', 'explain', `python3 -c 'import x'`])
  expect(opaque.stdout).toContain(
    'A person is asked: python3 runs programs that are not analysed, so r1 of home may apply. reviewed\n',
  )
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell expands it
  const unknown = await reeve.run(['policy', 'explain', 'git "${SUBCOMMAND}"'])
  expect(unknown.stdout).toContain(
    'A person is asked: git has arguments that are not literal, so r1 of home may apply. reviewed\n',
  )
  const doubtful = await reeve.run(['policy', 'explain', 'git --unheard-of push'])
  expect(doubtful.stdout).toContain(
    'A person is asked: git has an option before its subcommand that is not known, so r1 of home may apply. reviewed\n',
  )
  const words = await reeve.json<{ ruling: { type: string } }>('policy', 'explain', 'git', 'push', 'origin')
  expect(words.ruling.type).toBe('ask')
  const resource = await reeve.run(['policy', 'explain', 'write', 'fs:src/main.ts'])
  expect(resource.stdout).toContain('allow write fs:src/main.ts')
})

test('a policy file is tested: good, wrong with its lines, and missing', async () => {
  const reeve = new CommandLine()
  const folder = tempFolder()
  const path = policyIn(
    folder,
    '{\n  "rules": [\n    { "effect": "ask", "resource": "shell:git push" }\n  ]\n}',
  )
  const good = await reeve.run(['policy', 'test', folder])
  expect(good).toMatchObject({
    code: 0,
    stdout: `ask  execute shell:git push\n${path} is good: 1 rule, and all examples hold.\n`,
  })
  policyIn(
    folder,
    '{\n  "rules": [\n    { "effect": "ask", "resource": "shell:git push",\n      "match": ["git status"] },\n    { "efect": "ask" }\n  ]\n}',
  )
  const wrong = await reeve.run(['policy', 'test', '--file', path])
  expect(wrong.code).toBe(1)
  expect(wrong.stdout).toContain(`${path}:4: The rule "ask  execute shell:git push"`)
  expect(wrong.stdout).toContain(`${path}:5: A rule has no field "efect". Did you mean effect`)
  const missing = await reeve.run(['policy', 'test', tempFolder()])
  expect(missing.code).not.toBe(0)
  expect(missing.stderr).toContain('cannot be read')
})

test('status, doctor and the list of rules read the policy file of the folder that they are called in', async () => {
  const reeve = new CommandLine()
  await reeve.run(['up', '-d'])
  for (const subcommand of ['status', 'doctor', 'policy']) {
    const folder = tempFolder()
    const path = policyIn(folder, '{ "rules": [ { "efect": "ask" } ] }')
    const { stdout } = await reeve.run([subcommand], { cwd: folder })
    expect(stdout).toContain(path)
    expect(stdout).toContain('A rule has no field "efect". Did you mean effect?')
  }
})

test('of several rules none is removed if one is unknown, and each is removed once', async () => {
  const reeve = new CommandLine()
  for (const program of ['touch', 'mkdir']) await reeve.run(['policy', 'add', 'ask', `shell:${program}`])
  const refused = await reeve.run(['policy', 'remove', 'r1', 'r9', 'r2'])
  expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('r9') })
  expect(await reeve.json<unknown[]>('policy')).toHaveLength(2)
  const removed = await reeve.run(['policy', 'remove', 'r1', 'r2', 'r1'])
  expect([removed.code, removed.stdout.match(/shell:touch/g)?.length]).toEqual([0, 1])
  expect(await reeve.json<unknown[]>('policy')).toEqual([])
})

test('a person sees what a file would allow before trusting exactly that, and forgets it when it is gone', async () => {
  const reeve = new CommandLine()
  const { temp } = reeve
  await reeve.run(['up', '-d', '--listen', '127.0.0.1:0'])
  const folder = tempFolder()
  const path = policyIn(
    folder,
    JSON.stringify({
      rules: [
        { effect: 'allow', resource: 'shell:true' },
        { effect: 'deny', resource: 'shell:touch' },
      ],
    }),
  )
  await reeve.run(['session', 'open', 's1'])
  const { token } = new TokenFile(temp.home).create({ role: 'agent', session: 's1' })
  const agent = await connect({ url: temp.announced()?.url ?? '', token })
  onTestFinished(() => agent.close())
  const starts = (program: string) => agent.spawn({ kind: 'command', spec: { argv: [program] }, cwd: folder })
  await starts('echo')
  const tested = await reeve.run(['policy', 'test', folder])
  expect(tested.stdout).toContain('1 of them count only after reeve policy trust.')
  const shown = await reeve.run(['policy', 'trust', folder])
  expect(shown.stdout).toContain('An allow closes the folder')
  expect(shown.code).toBe(1)
  expect(shown.stdout).toContain('Would begin to count:\n  allow  execute shell:true\n')
  expect(shown.stdout).toContain('Count already:\n  deny  execute shell:touch\n')
  const [, hash = ''] = /--hash (\w+)/.exec(shown.stdout) ?? []
  expect((await reeve.run(['policy', 'trust', folder, '--hash', '0123456789ab'])).stderr).toContain(
    'has the hash',
  )
  const trusted = await reeve.run(['policy', 'trust', folder, '--hash', hash])
  expect(trusted).toMatchObject({ code: 0, stdout: expect.stringContaining(`Trusted ${path}`) })
  await expect(starts('echo')).rejects.toMatchObject({ code: 'denied' })
  await starts('true')
  expect((await reeve.run(['policy', 'untrust', folder])).stdout).toContain('no longer counts')
  for (const program of ['echo', 'true'])
    await expect(starts(program)).rejects.toMatchObject({ code: 'denied' })
  writeFileSync(path, '{')
  await expect(starts('echo')).rejects.toMatchObject({ code: 'denied' })
  expect((await reeve.run(['policy'])).stdout).toContain(`${path}:1: `)
  const doctor = await reeve.run(['doctor'])
  expect(doctor.stdout).toContain(`${path}, line 1`)
  expect((await reeve.run(['policy', 'forget', folder])).stdout).toContain(`of ${path}`)
  await expect(starts('echo')).rejects.toMatchObject({ code: 'policy_invalid' })
})

test('rules of a process are set, passed on and taken back from the command line', async () => {
  const reeve = new CommandLine()
  const { stdout: pid } = await reeve.run(['run', '-d', '--', 'sleep', '300'])
  const name = pid.trim()
  const to = `process:${name}`
  const added = await reeve.run(['policy', 'add', 'deny', 'shell:rm', '--process', name])
  expect(added.stdout).toContain(`Added r1 of process:`)
  await reeve.run(['session', 'open', 's1'])
  await reeve.run(['policy', 'add', 'allow', 'shell:git', '--session', 's1', '--delegable', '1'])
  const passed = await reeve.run([
    ...['policy', 'delegate', 'shell:git', '--args', 'status', '--session', 's1', '--to', to],
  ])
  expect(passed.stdout).toContain('allow  execute shell:git status')
  const wider = await reeve.run(['policy', 'delegate', 'shell:npm', '--session', 's1', '--to', to])
  expect(wider.stderr).toContain('may not delegate')
  expect((await reeve.run(['policy', 'revoke', 'r2', '--to', to])).stdout).toContain('Revoked r2')
  expect((await reeve.run(['policy', 'clear', '--process', name])).stdout).toContain(
    'Removed 1 rule of process:',
  )
  await reeve.run(['kill', name])
})

test('inside of a process of Reeve no policy is changed', async () => {
  const reeve = new CommandLine()
  const env = { REEVE_PROCESS: 'p_azzzzzzzzzzz@home' }
  for (const args of [
    ['preset', 'full'],
    ['clear'],
    ['trust'],
    ['untrust'],
    ['forget'],
    ['delegate', 'shell:git'],
    ['revoke', 'r1'],
  ]) {
    const refused = await reeve.run(['policy', ...args], { env })
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain('is for people, and this runs inside of the process p_azzzzzzzzzzz')
  }
})
