// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are lines for a shell
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InputOf, ReeveVerbs } from 'reeve'
import { expect, onTestFinished, test } from 'vitest'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'

/** Rules about command lines, met where commands start: none of these lines gets past a rule, and no harmless one is asked about. */

type Spec = Extract<InputOf<'spawn'>, { kind: 'command' }>['spec']

/** A Reeve whose commands find a `git` that notes its calls outside of Reeve, and makes nothing else. */
async function withNotedGit(temp: TempReeve) {
  const folder = tempFolder()
  const [bin, work, calls] = ['bin', 'work', 'calls'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  for (const made of [bin, work]) mkdirSync(made)
  writeFileSync(calls, '')
  writeFileSync(join(bin, 'git'), `#!/bin/sh\necho "git $*" >> ${calls}\n`)
  chmodSync(join(bin, 'git'), 0o755)
  writeFileSync(join(work, 'a'), 'one\ntwo\n')
  writeFileSync(join(work, 'b'), 'three\n')
  const path = process.env['PATH']
  process.env['PATH'] = `${bin}:${path}`
  onTestFinished(() => {
    process.env['PATH'] = path
  })
  // The lines use what only bash has.
  const reeve = await temp.embed({ shell: '/bin/bash' })
  for (const session of ['s1', 's2']) await reeve.openSession({ session })
  return { reeve, work, bin, calls: () => readFileSync(calls, 'utf8') }
}

/** What becomes of a command: the code of its refusal, or the status in which it was registered. */
async function started(agent: ReeveVerbs, spec: Spec, cwd: string): Promise<string> {
  try {
    return (await agent.spawn({ kind: 'command', spec, cwd })).record.status
  } catch (error) {
    return String((error as { code?: unknown }).code)
  }
}

/** 60 lines that reach `git push` or make the file `x`, and look like something else. */
const ATTACKS: readonly string[] = [
  'git push',
  '/usr/bin/git push',
  'git -C . push',
  'git --no-pager push',
  'git --git-dir=.git --work-tree=. push',
  'git --new-option push',
  "git -c alias.x='!git push' x",
  'git -c alias.x=push x',
  "git -c core.pager='git push' log",
  'git --exec-path=/tmp/x status',
  'CI=1 git push',
  'CI=1 FOO=2 git push',
  'PATH=/tmp/evil:$PATH git status',
  'LD_PRELOAD=/tmp/x.so git status',
  "GIT_SSH_COMMAND='git push' git status",
  "GIT_EDITOR='git push' git status",
  'GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0=push git x',
  'git status $(touch x)',
  'git status `touch x`',
  'git status "$(touch x)"',
  'git status <(touch x)',
  'git status ${x:-$(touch x)}',
  'git status; touch x',
  'git status && touch x',
  'git status || touch x',
  'git status & touch x',
  'git status | touch x',
  'git status\ntouch x',
  'git status # \n touch x',
  'cat <<EOF\n$(git push)\nEOF',
  "sh <<'EOF'\ngit push\nEOF",
  "bash <<< 'git push'",
  "sh -c 'git push'",
  'bash -lc "git push"',
  'sh -c \'sh -c "git push"\'',
  'echo git push | sh',
  "env -S 'git push'",
  "env '-Sgit push'",
  'env git push',
  'env -i git push',
  'command git push',
  'exec git push',
  'nohup git push',
  'nice git push',
  'timeout 5 git push',
  'setsid git push',
  'echo push | xargs git',
  'echo origin | xargs git push',
  'find . -maxdepth 0 -exec git push ;',
  'find . -maxdepth 0 -exec git push \\;',
  "alias g='git push'; g",
  "eval 'git push'",
  'x=git; $x push',
  'x=push; git $x',
  'g\'\'it pu""sh',
  "$'\\x67it' push",
  'f() { git push; }; f',
  "trap 'git push' EXIT",
  'python3 -c \'import os; os.system("git push")\'',
  'awk \'BEGIN { system("git push") }\'',
]

/** The same without a shell. */
const ATTACKS_BY_ARGV: readonly (readonly [string, ...string[]])[] = [
  ['git', 'push'],
  ['git', '-C', '.', 'push'],
  ['git', '--no-pager', 'push'],
  ['git', '-c', 'alias.x=!git push', 'x'],
  ['env', 'git', 'push'],
  ['env', '-S', 'git push'],
  ['sh', '-c', 'git push'],
  ['sh', '-c', '"$0" push', 'git'],
  ['nice', '-n', '3', 'git', 'push'],
  ['timeout', '5', 'git', 'push'],
  ['xargs', 'git', 'push'],
  ['find', '.', '-exec', 'git', 'push', ';'],
  ['python3', '-c', 'print()'],
]

const ALLOWED_PROGRAMS = [
  ...[
    'ls',
    'cat',
    'echo',
    'head',
    'tail',
    'wc',
    'sort',
    'uniq',
    'grep',
    'find',
    'test',
    '[',
    'true',
    'false',
  ],
  ...['cd', 'pwd', 'mkdir', 'cp', 'date', 'printf', 'tr', 'cut', 'basename', 'dirname', 'seq', 'tee', 'diff'],
  ...['read', 'set', 'export', 'xargs', ':'],
]

/** 40 compounds whose parts are all allowed. */
const HARMLESS: readonly string[] = [
  'git status',
  'git status && git log',
  'git -C . status',
  'git --no-pager log',
  'git status | head -3',
  'git log --oneline | wc -l',
  'git diff; git status',
  'CI=1 git status',
  'env git status',
  'timeout 60 git status',
  'nice git log',
  'nohup git status',
  "sh -c 'git status'",
  'ls -la | head -3',
  'cd . && ls',
  'cat a b | sort | uniq',
  'cat a > out',
  'cat a >> out 2>&1',
  'echo $(git status)',
  'echo "$(cat a | wc -l)"',
  'echo `git log`',
  'diff <(cat a) <(cat b) || true',
  'test -f a && echo yes || echo no',
  '[ -d . ] && pwd',
  'if test -f a; then cat a; else echo none; fi',
  'for name in a b; do cat "$name"; done',
  'while read -r line; do echo "$line"; done < a',
  'case a in a) echo one;; *) echo two;; esac',
  'mkdir -p made && cp a made/a',
  'find . -name "*.ts" | head -n 1',
  'find . -name a | xargs cat',
  'grep -c one a | tr -d " "',
  'printf "%s\\n" one two | tail -n 1',
  'seq 1 3 | cut -c1',
  '(cd . && ls) | wc -l',
  '{ pwd; ls; } | head -1',
  'x=$(git log); echo "$x"',
  'cat <<EOF\ntext\nEOF',
  "cat <<'EOF'\n$(git push)\nEOF",
  'date && echo "git push"',
]

test('60 lines and 13 argument lists that try to get past a rule are asked about, and nothing of them runs', async () => {
  await using temp = new TempReeve()
  const { reeve, work, calls } = await withNotedGit(temp)
  for (const resource of ['shell:git push', 'shell:touch'])
    await reeve.addRule({ rule: { effect: 'ask', resource } })
  expect(new Set(ATTACKS).size).toBe(60)
  const agent = reeve.as('session:s1')
  const found = [...ATTACKS.map((run) => ({ run })), ...ATTACKS_BY_ARGV.map((argv) => ({ argv: [...argv] }))]
  for (const spec of found) expect(await started(agent, spec, work), JSON.stringify(spec)).toBe('waiting')
  expect(calls()).toBe('')
  expect(readdirSync(work)).toEqual(['a', 'b'])
})

test('the same lines under a deny, and under allows for other commands, begin nothing', async () => {
  await using temp = new TempReeve()
  const { reeve, work, calls } = await withNotedGit(temp)
  const to = (session: string) => ({ type: 'session', session }) as const
  // Nothing else may allow them, such as a preset of every session that allows each shell.
  for (const session of ['s1', 's2']) await reeve.setPreset({ to: to(session), preset: null })
  for (const resource of ['shell:git push', 'shell:touch'])
    await reeve.addRule({ to: to('s1'), rule: { effect: 'deny', resource } })
  for (const resource of [
    'shell:git status',
    'shell:git log',
    ...ALLOWED_PROGRAMS.map((name) => `shell:${name}`),
  ])
    await reeve.addRule({ to: to('s2'), rule: { effect: 'allow', resource } })
  for (const run of ATTACKS) {
    // What cannot be analysed may be something else, so a person decides.
    expect(await started(reeve.as('session:s1'), { run }, work), run).toMatch(/^(denied|waiting)$/)
    expect(await started(reeve.as('session:s2'), { run }, work), run).toBe('denied')
  }
  expect(calls()).toBe('')
  expect(readdirSync(work)).toEqual(['a', 'b'])
})

test('40 harmless lines whose parts are all allowed run without being asked about', async () => {
  await using temp = new TempReeve()
  const { reeve, work, calls } = await withNotedGit(temp)
  for (const resource of ['shell:git push', 'shell:touch'])
    await reeve.addRule({ rule: { effect: 'ask', resource } })
  const allowed = [
    ...['git status', 'git log', 'git diff', ...ALLOWED_PROGRAMS].map((name) => ({
      resource: `shell:${name}`,
    })),
    { resource: 'fs:/**', rights: ['write'] },
  ]
  const to = { type: 'session', session: 's1' } as const
  for (const rule of allowed) await reeve.addRule({ to, rule: { effect: 'allow', ...rule } })
  expect(new Set(HARMLESS).size).toBe(40)
  const agent = reeve.as('session:s1')
  const pids: string[] = []
  for (const run of HARMLESS) {
    const { record } = await agent
      .spawn({ kind: 'command', spec: { run }, cwd: work })
      .catch((error: unknown) => Promise.reject(new Error(`${run}: ${String(error)}`)))
    expect(record.status, run).not.toBe('waiting')
    pids.push(record.pid)
  }
  await reeve.waitAll({ pids, timeoutMs: 60_000 })
  expect((await reeve.approvals({ state: 'any' })).approvals).toEqual([])
  expect(calls()).not.toContain('push')
})
