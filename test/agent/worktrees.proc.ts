import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { connect, type Embedded, type InputOf, type Reeve } from 'reeve'
import { expect, test } from 'vitest'
import { WorktreeNotes } from '../../src/agent/worktrees/worktree-notes.ts'
import { tempFolder } from '../temp-folder.ts'
import { TempReeve } from '../temp-reeve.ts'
import { payloads } from './scripted-agent.ts'
import { answerOrCode } from './served-agents.ts'

const IDENTITY = ['-c', 'user.name=A', '-c', 'user.email=a@localhost', '-c', 'init.defaultBranch=main']

function git(cwd: string, ...args: readonly string[]): string {
  return execFileSync('git', [...IDENTITY, ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

function put(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

/** A repository with one commit, which has the scripts of agents that write one file each. */
function repository(writes: Readonly<Record<string, string>> = {}): string {
  const root = realpathSync(tempFolder())
  git(root, 'init', '--quiet')
  put(root, 'README.md', 'one\n')
  for (const [name, path] of Object.entries(writes)) put(root, `${name}.json`, script(path, `by ${name}\n`))
  put(root, 'lead.json', JSON.stringify({ answers: [{ parts: [{ text: 'ok' }] }], atEnd: 'repeat' }))
  git(root, 'add', '--all')
  git(root, 'commit', '--quiet', '-m', 'one')
  return root
}

function script(path: string, content: string): string {
  const read = { tool: 'read_file', input: { path } }
  const write = { tool: 'write_file', input: { path, content } }
  return JSON.stringify({ answers: [{ parts: [read] }, { parts: [write] }, { parts: [{ text: 'done' }] }] })
}

async function lead(reeve: Reeve | Embedded, cwd: string, more: object = {}): Promise<string> {
  const spec = { agent: 'lead', model: 'scripted/lead.json', ...more }
  return (await reeve.spawn({ kind: 'agent', cwd, spec })).record.pid
}

function below(reeve: Reeve | Embedded, parent: string) {
  return (name: string, more: Partial<InputOf<'spawnAgent'>> = {}) =>
    reeve.spawnAgent({
      parent,
      goal: 'write it',
      name,
      model: `scripted/${name}.json`,
      workspace: { worktree: true },
      once: true,
      ...more,
    })
}

/** The branches and worktrees of agents that git knows. */
function leftIn(root: string): readonly string[] {
  const folders = git(root, 'worktree', 'list', '--porcelain').match(/^worktree .*$/gm) ?? []
  const branches = git(root, 'branch', '--list', 'reeve/*', '--format=%(refname:short)').trim().split('\n')
  return [...folders.slice(1), ...branches.filter((one) => one !== '')]
}

const TEN = Array.from({ length: 10 }, (_, index) => `n${index}`)
const FIVE = TEN.slice(0, 5)

test('ten agents write at once, each in a worktree of its own, and all of it is merged and cleaned up', {
  timeout: 300_000,
}, async () => {
  await using temp = new TempReeve()
  const root = repository(Object.fromEntries(TEN.map((name) => [name, `out/${name}.txt`])))
  const reeve = await temp.embed()
  const spawn = below(reeve, await lead(reeve, root))
  const children = await Promise.all(TEN.map((name) => spawn(name)))
  await Promise.all(children.map(({ record }) => reeve.wait({ pid: record.pid })))
  expect(git(root, 'status', '--porcelain')).toBe('')
  const { worktrees } = await reeve.worktrees({})
  expect(worktrees.map(({ name, branch, because }) => ({ name, branch, because })).toSorted(byName)).toEqual(
    TEN.map((name) => ({ name, branch: `reeve/${name}`, because: '1 file not committed' })),
  )
  const merged = await Promise.all(TEN.map((worktree) => reeve.mergeWorktree({ worktree })))
  expect(merged).toMatchObject(
    TEN.map((name) => ({ type: 'merged', paths: [`out/${name}.txt`], removed: true })),
  )
  for (const name of TEN) expect(readFileSync(join(root, `out/${name}.txt`), 'utf8')).toBe(`by ${name}\n`)
  expect(git(root, 'status', '--porcelain')).toBe('')
  expect(await reeve.worktrees({})).toEqual({ worktrees: [] })
  expect([leftIn(root), readdirSync(join(temp.keeperHome.folder, 'worktrees'))]).toEqual([[], []])
})

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : 1
}

test('a merge that would conflict or overwrite names the files, and leaves the checkout as it was', {
  timeout: 180_000,
}, async () => {
  await using temp = new TempReeve()
  const root = repository({ clash: 'README.md', other: 'other.txt' })
  const reeve = await temp.embed()
  const spawn = below(reeve, await lead(reeve, root))
  for (const name of ['clash', 'other']) await reeve.wait({ pid: (await spawn(name)).record.pid })
  put(root, 'README.md', 'two\n')
  put(root, 'other.txt', 'mine')
  put(root, 'notes.txt', 'mine')
  const dirty = git(root, 'status', '--porcelain')
  const head = git(root, 'rev-parse', 'HEAD')
  for (const [worktree, path] of [
    ['clash', 'README.md'],
    ['other', 'other.txt'],
  ] as const) {
    const refused = reeve.mergeWorktree({ worktree })
    await expect(refused).rejects.toMatchObject({ code: 'conflict', details: { paths: [path] } })
    expect([git(root, 'status', '--porcelain'), git(root, 'rev-parse', 'HEAD')]).toEqual([dirty, head])
  }
  git(root, 'commit', '--quiet', '-m', 'two', 'README.md')
  const conflict = reeve.mergeWorktree({ worktree: 'clash' })
  await expect(conflict).rejects.toThrow(
    `reeve/clash conflicts with ${root} in README.md. Nothing was changed.`,
  )
  expect(readFileSync(join(root, 'README.md'), 'utf8')).toBe('two\n')
  expect(existsSync(join(root, '.git/MERGE_HEAD'))).toBe(false)
  expect((await reeve.worktrees({})).worktrees).toMatchObject([
    { name: 'clash', state: 'kept', because: '1 commit not merged' },
    { name: 'other', state: 'kept', because: '1 commit not merged' },
  ])
  expect(await answerOrCode(reeve.removeWorktree({ worktree: 'clash' }))).toBe('conflict')
  await reeve.removeWorktree({ worktree: 'clash', discard: true })
  git(root, 'rm', '--quiet', '--cached', '--ignore-unmatch', 'other.txt')
  writeFileSync(join(root, '.git/info/exclude'), 'other.txt\n')
  expect(await answerOrCode(reeve.mergeWorktree({ worktree: 'other' }))).toBe('conflict')
  expect(readFileSync(join(root, 'other.txt'), 'utf8')).toBe('mine')
  await reeve.removeWorktree({ worktree: 'other', discard: true })
  expect(leftIn(root)).toEqual([])
})

test('a parent merges the worktree of its child with a tool, once it has the report', {
  timeout: 180_000,
}, async () => {
  await using temp = new TempReeve()
  const root = repository({ n0: 'out/n0.txt' })
  const merge = { parts: [{ tool: 'worktree_merge', input: { pid: 'n0' } }] }
  put(
    root,
    'lead.json',
    JSON.stringify({ answers: [merge, { parts: [{ text: 'merged' }] }], atEnd: 'repeat' }),
  )
  const reeve = await temp.embed()
  const parent = await lead(reeve, root, { tools: ['read_file', 'write_file', 'worktree_merge'] })
  const { record } = await below(reeve, parent)('n0')
  await reeve.wait({ pid: record.pid })
  await reeve.waitFor({ pid: parent, types: ['turn_ended'] })
  const [called] = await payloads(reeve, parent, 'tool_answered')
  expect(JSON.stringify(called)).toContain('Merged reeve/n0: out/n0.txt. The worktree is removed.')
  expect(readFileSync(join(root, 'out/n0.txt'), 'utf8')).toBe('by n0\n')
  expect(leftIn(root)).toEqual([])
})

test('a restored agent goes on in the worktree of the first one, which is removed when it has ended, too', {
  timeout: 180_000,
}, async () => {
  await using temp = new TempReeve()
  const root = repository({ n0: 'out/n0.txt' })
  const reeve = await temp.embed()
  const { record: first } = await below(reeve, await lead(reeve, root))('n0')
  await reeve.wait({ pid: first.pid })
  const { record } = await reeve.restoreAgent({ pid: first.pid })
  expect(record.cwd).toBe(first.cwd)
  expect((await reeve.worktrees({})).worktrees).toMatchObject([{ pid: record.pid, state: 'in_use' }])
  const merged = await reeve.mergeWorktree({ worktree: record.pid })
  expect(merged).toMatchObject({ paths: ['out/n0.txt'], removed: false })
  expect(await answerOrCode(reeve.removeWorktree({ worktree: first.pid, discard: true }))).toBe('conflict')
  await reeve.shutDownAgent({ pid: record.pid })
  await expect.poll(() => leftIn(root), { timeout: 30_000 }).toEqual([])
  await expect(reeve.restoreAgent({ pid: record.pid })).rejects.toMatchObject({
    code: 'not_restorable',
    message: expect.stringContaining('is gone'),
  })
})

test('a worktree that cannot be made changes nothing: no repository, no commit, paths, a parent with paths', {
  timeout: 180_000,
}, async () => {
  await using temp = new TempReeve()
  const reeve = await temp.embed()
  const plain = realpathSync(tempFolder())
  put(plain, 'lead.json', JSON.stringify({ answers: [] }))
  const empty = realpathSync(tempFolder())
  git(empty, 'init', '--quiet')
  put(empty, 'lead.json', JSON.stringify({ answers: [] }))
  const root = repository()
  const [inPlain, inEmpty, inRoot] = await Promise.all([plain, empty, root].map((cwd) => lead(reeve, cwd)))
  const childless = await lead(reeve, root, { delegation: { children: 0 } })
  const given = { parent: inRoot ?? '', goal: 'x', paths: ['src'] }
  const bound = (await reeve.spawnAgent(given)).record.pid
  const pids = async () => (await reeve.list({})).processes.map(({ record }) => record.pid)
  const before = await pids()
  const asked = (parent = '', more: Partial<InputOf<'spawnAgent'>> = {}) =>
    answerOrCode(below(reeve, parent)('lead', more))
  expect(await asked(inPlain)).toBe('invalid_request')
  expect(await asked(inEmpty)).toBe('invalid_request')
  expect(await asked(inRoot, { paths: ['docs'] })).toBe('invalid_request')
  expect(await asked(bound)).toBe('path_held')
  expect(await asked(inRoot, { preset: 'everything' })).toBe('invalid_rule')
  expect(await asked(childless)).toBe('limit_exceeded')
  expect(await pids()).toEqual(before)
  expect([leftIn(root), await reeve.worktrees({})]).toEqual([[], { worktrees: [] }])
})

test('what a kernel that died left half made is cleaned up by the next one', {
  timeout: 180_000,
}, async () => {
  await using temp = new TempReeve()
  const root = repository()
  const base = git(root, 'rev-parse', 'HEAD').trim()
  await (await temp.embed()).close()
  const notes = new WorktreeNotes(join(temp.keeperHome.folder, 'worktrees'))
  const note = async (pid: string) => {
    const folder = notes.folderOf(pid)
    const given = {
      pid,
      name: pid,
      parent: 'p_000000000009',
      branch: `reeve/${pid}`,
      base,
      folder,
      into: root,
      madeAt: 1,
    }
    await notes.write(given)
    return given
  }
  await note('p_000000000001')
  const branched = await note('p_000000000002')
  git(root, 'branch', branched.branch, base)
  const made = await note('p_000000000003')
  git(root, 'worktree', 'add', '--quiet', '-b', made.branch, made.folder, base)
  const locked = await note('p_000000000004')
  git(root, 'worktree', 'add', '--quiet', '--lock', '-b', locked.branch, locked.folder, base)
  const used = await note('p_000000000005')
  git(root, 'worktree', 'add', '--quiet', '-b', used.branch, used.folder, base)
  put(used.folder, 'work.txt', 'work')
  const left = await note('p_000000000006')
  git(root, 'worktree', 'add', '--quiet', '-b', left.branch, left.folder, base)
  git(left.folder, 'checkout', '--quiet', '--detach')
  git(left.folder, 'commit', '--quiet', '--allow-empty', '-m', 'on no branch')
  const reeve = await temp.embed()
  const names = async () => (await reeve.worktrees({})).worktrees.map(({ pid, because }) => [pid, because])
  await expect.poll(names).toEqual([
    [used.pid, '1 file not committed'],
    [left.pid, '1 commit not merged'],
  ])
  expect(await reeve.mergeWorktree({ worktree: left.pid })).toMatchObject({ type: 'merged', removed: true })
  expect(leftIn(root)).toEqual([`worktree ${used.folder}`, used.branch])
  const moved = `${root}-moved`
  renameSync(root, moved)
  expect(await names()).toEqual([
    [used.pid, 'git cannot read it: it or its repository was moved or is damaged'],
  ])
  expect(existsSync(join(used.folder, 'work.txt'))).toBe(true)
  renameSync(moved, root)
  await reeve.removeWorktree({ worktree: used.pid, discard: true })
  expect([leftIn(root), await names()]).toEqual([[], []])
})

test('after kill -9 of the daemon in the middle of it all worktrees are listed, and go as after any end', {
  timeout: 300_000,
}, async () => {
  const temp = new TempReeve()
  const root = repository(Object.fromEntries(FIVE.map((name) => [name, `out/${name}.txt`])))
  const first = await temp.start()
  const reeve = await connect({ home: temp.home.folder })
  const parent = await lead(reeve, root)
  const spawn = below(reeve, parent)
  const asked = FIVE.map((name) => spawn(name, { idempotencyKey: name }).catch(() => null))
  await asked[1]
  await first.kill()
  await reeve.close()
  await Promise.all(asked)
  await temp.start()
  const again = await connect({ home: temp.home.folder })
  const children = await Promise.all(FIVE.map((name) => below(again, parent)(name, { idempotencyKey: name })))
  for (const { record } of children) expect((await again.wait({ pid: record.pid })).type).toBe('ended')
  const { worktrees } = await again.worktrees({})
  expect(worktrees.map(({ name }) => name).toSorted()).toEqual(FIVE)
  for (const worktree of FIVE)
    expect(await again.mergeWorktree({ worktree })).toMatchObject({ removed: true })
  for (const name of FIVE) expect(readFileSync(join(root, `out/${name}.txt`), 'utf8')).toBe(`by ${name}\n`)
  expect([leftIn(root), await again.worktrees({})]).toEqual([[], { worktrees: [] }])
  await again.close()
})
