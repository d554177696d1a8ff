import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { fileTools } from '../../../src/agent/tools/files/file-tools.ts'
import { FileTracker } from '../../../src/agent/tools/files/file-tracker.ts'
import { isNamed } from '../../../src/core/capability/is-named.ts'
import type { Rule } from '../../../src/core/capability/rule.ts'
import { ALLOWED } from '../../../src/core/capability/ruling.ts'
import { tempFolder } from '../../temp-folder.ts'
import { callerOf } from './call-tool.ts'

const [ANNA, BERT] = ['p_000000000ana', 'p_000000000ber']
/** No earlier program has worked here. */
const NO_RECORDS = { seenBy: async () => [], writerOf: async () => undefined }
const WHEN = { at: 0, host: null }
/** No rule is about files, and no other agent alone may write them. */
const OPEN = {
  readable: () => () => true,
  ruling: async () => ALLOWED,
  mask: (text: string) => text,
  checkWrite: async () => undefined,
}

/** A workspace, a folder beside it, and two agents that work in the workspace. */
function workspace(rules: readonly Rule[] = []) {
  const parent = realpathSync(tempFolder())
  const [root, outside] = [join(parent, 'work'), join(parent, 'outside')]
  mkdirSync(root)
  mkdirSync(outside)
  const tracker = new FileTracker(NO_RECORDS, () => 0)
  const sets = [{ rules, trusted: true }]
  const agentOf = (agent: string) =>
    callerOf(fileTools({ root, agent, tracker, isNamed: (need) => isNamed(sets, need, WHEN), ...OPEN }))
  const put = (path: string, content: string | Buffer) => {
    const file = join(root, path)
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, content)
    return file
  }
  return { root, outside, put, anna: agentOf(ANNA), bert: agentOf(BERT) }
}

const allow = (right: 'read' | 'write', resource: string): Rule => ({
  id: 'r1',
  effect: 'allow',
  rights: [right],
  resource,
})

test('a file is read with line numbers, from an offset, and says how to go on', async () => {
  const { put, anna } = workspace()
  put('a.txt', 'one\ntwo\nthree\nfour\n')
  expect(await anna.text('read_file', { path: 'a.txt' })).toBe('1\tone\n2\ttwo\n3\tthree\n4\tfour')
  expect(await anna.text('read_file', { path: './a.txt', offset: 2, limit: 2 })).toBe(
    '2\ttwo\n3\tthree\n(lines 2 to 3 of 4; go on with offset 4)',
  )
  expect(await anna.refused('read_file', { path: 'a.txt', offset: 9 })).toMatchObject({
    code: 'invalid_input',
    message: 'a.txt has 4 lines; line 9 is behind its end.',
  })
  put('empty', '')
  expect(await anna.text('read_file', { path: 'empty' })).toBe('empty is empty.')
})

test('a long file is shown up to a bound of whole lines', async () => {
  const { put, anna } = workspace()
  put('long', `${'x'.repeat(999)}\n`.repeat(400))
  const text = await anna.text('read_file', { path: 'long' })
  expect(text.length).toBeLessThan(100_000)
  expect(text.slice(-44)).toBe('(lines 1 to 98 of 400; go on with offset 99)')
  put('wide', 'y'.repeat(50_000))
  expect(await anna.text('read_file', { path: 'wide' })).toMatch(/y… \(48000 more characters\)$/)
})

test('a binary file is refused, and a picture is a picture', async () => {
  const { put, anna } = workspace()
  put('a.bin', Buffer.from([1, 0, 2]))
  put('latin1', Buffer.from([0xe9, 0x0a]))
  const png = Buffer.from('89504e470d0a1a0a0000', 'hex')
  put('a.png', png)
  expect(await anna.refused('read_file', { path: 'a.bin' })).toMatchObject({ code: 'not_text' })
  expect(await anna.refused('read_file', { path: 'latin1' })).toMatchObject({ code: 'not_text' })
  expect((await anna.call('read_file', { path: 'a.png' })).parts).toEqual([
    { type: 'text', text: 'a.png (image/png, 10 bytes)' },
    { type: 'image', mediaType: 'image/png', data: png.toString('base64') },
  ])
})

test('missing files and folders are named as such', async () => {
  const { put, anna } = workspace()
  put('folder/a', '')
  expect(await anna.refused('read_file', { path: 'none' })).toMatchObject({ code: 'not_found' })
  expect(await anna.refused('read_file', { path: 'folder' })).toMatchObject({ code: 'not_a_file' })
  expect(await anna.refused('read_file', { path: 'folder/a/b' })).toMatchObject({ code: 'not_a_folder' })
  expect(await anna.refused('list_files', { path: 'folder/a' })).toMatchObject({ code: 'not_a_folder' })
  expect(await anna.refused('list_files', { path: 'none' })).toMatchObject({ code: 'not_found' })
  expect(await anna.refused('read_file', { path: 'a\0b' })).toMatchObject({ code: 'invalid_input' })
  expect(await anna.refused('read_file', {})).toMatchObject({ code: 'invalid_input' })
})

test('a new file is made with the folders above, and the result has the hashes of the change', async () => {
  const { root, anna } = workspace()
  const made = await anna.call('write_file', { path: 'src/deep/a.ts', content: 'let a\n' })
  expect(made).toEqual({
    parts: [{ type: 'text', text: 'Made src/deep/a.ts (1 line).' }],
    changes: [
      {
        path: join(root, 'src/deep/a.ts'),
        before: null,
        after: expect.stringMatching(/^[0-9a-f]{64}$/),
        was: null,
      },
    ],
  })
  expect(readFileSync(join(root, 'src/deep/a.ts'), 'utf8')).toBe('let a\n')
  const again = await anna.call('write_file', { path: 'src/deep/a.ts', content: 'let b\n' })
  expect(again.changes?.[0]?.before).toBe(made.changes?.[0]?.after)
})

test('a replaced file keeps its mode, and no draft is left behind', async () => {
  const { put, root, anna } = workspace()
  chmodSync(put('run.sh', 'echo 1\n'), 0o754)
  await anna.call('read_file', { path: 'run.sh' })
  await anna.call('write_file', { path: 'run.sh', content: 'echo 2\n' })
  expect(statSync(join(root, 'run.sh')).mode & 0o7777).toBe(0o754)
  expect(readdirSync(root)).toEqual(['run.sh'])
})

test('a write replaces the name, so another link to the old content stays as it is', async () => {
  const { put, root, anna } = workspace()
  linkSync(put('a', 'old'), join(root, 'b'))
  await anna.call('read_file', { path: 'a' })
  await anna.call('write_file', { path: 'a', content: 'new' })
  expect(readFileSync(join(root, 'b'), 'utf8')).toBe('old')
})

test('several edits are applied together, or not at all', async () => {
  const { put, root, anna } = workspace()
  put('a.ts', 'one\ntwo\ntwo\nthree\n')
  await anna.call('read_file', { path: 'a.ts' })
  const edits = [
    { oldText: 'one', newText: 'ONE $& $1' },
    { oldText: 'three', newText: '3' },
  ]
  expect(await anna.text('edit_file', { path: 'a.ts', edits })).toBe(
    'Edited a.ts: 2 replacements, lines 1, 4.',
  )
  expect(readFileSync(join(root, 'a.ts'), 'utf8')).toBe('ONE $& $1\ntwo\ntwo\n3\n')
  const twice = [
    { oldText: 'ONE', newText: 'x' },
    { oldText: 'two', newText: '2' },
  ]
  expect(await anna.refused('edit_file', { path: 'a.ts', edits: twice })).toMatchObject({
    code: 'edit_refused',
    message:
      'oldText of edit 2 is 2 times in a.ts, at lines 2, 3. Add lines around it, or set replaceAll. No edit was made.',
  })
  expect(readFileSync(join(root, 'a.ts'), 'utf8')).toBe('ONE $& $1\ntwo\ntwo\n3\n')
  expect(
    await anna.refused('edit_file', { path: 'a.ts', edits: [{ oldText: 'four', newText: '4' }] }),
  ).toMatchObject({ code: 'edit_refused' })
  await anna.call('edit_file', { path: 'a.ts', edits: [{ oldText: 'two', newText: '2', replaceAll: true }] })
  expect(readFileSync(join(root, 'a.ts'), 'utf8')).toBe('ONE $& $1\n2\n2\n3\n')
})

test('a file that the agent has not read is not overwritten', async () => {
  const { put, root, anna, bert } = workspace()
  put('a', 'precious')
  const write = { path: 'a', content: 'gone' }
  expect(await anna.refused('write_file', write)).toMatchObject({ code: 'not_read' })
  await bert.call('read_file', { path: 'a' })
  expect(await anna.refused('write_file', write)).toMatchObject({ code: 'not_read' })
  expect(readFileSync(join(root, 'a'), 'utf8')).toBe('precious')
})

test('a write based on a stale read is refused, and names the agent that wrote since', async () => {
  const { put, root, anna, bert } = workspace()
  put('a', '1')
  await anna.call('read_file', { path: 'a' })
  await bert.call('read_file', { path: 'a' })
  await bert.call('write_file', { path: 'a', content: '2' })
  const stale = await anna.refused('edit_file', { path: 'a', edits: [{ oldText: '2', newText: '3' }] })
  expect(stale).toMatchObject({
    code: 'file_changed',
    message: `a was changed by agent ${BERT} since you read it. Read it again, then repeat the change if it is still right.`,
    details: { by: BERT },
  })
  expect(readFileSync(join(root, 'a'), 'utf8')).toBe('2')
  put('a', 'by an editor')
  expect(await bert.refused('write_file', { path: 'a', content: 'x' })).toMatchObject({
    code: 'file_changed',
    details: { by: null },
  })
  await anna.call('read_file', { path: 'a' })
  await anna.call('write_file', { path: 'a', content: '4' })
  expect(readFileSync(join(root, 'a'), 'utf8')).toBe('4')
})

test('of many writes at once, each based on the same read, exactly one is made', async () => {
  const { put, anna, bert } = workspace()
  put('a', 'start')
  await anna.call('read_file', { path: 'a' })
  await bert.call('read_file', { path: 'a' })
  const writes = [anna, bert].map((agent, index) =>
    agent.call('write_file', { path: 'a', content: `${index}` }),
  )
  const settled = await Promise.allSettled(writes)
  expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
})

test('no path leads out of the workspace: not .., not an absolute one, not a link, not a link to nothing', async () => {
  const { root, outside, anna } = workspace()
  writeFileSync(join(outside, 'secret'), 'secret')
  symlinkSync(outside, join(root, 'link'))
  symlinkSync(join(outside, 'new'), join(root, 'dangling'))
  symlinkSync('loop', join(root, 'loop'))
  const paths = ['../outside/secret', join(outside, 'secret'), 'link/secret', 'src/../../outside/secret']
  for (const path of paths)
    expect(await anna.refused('read_file', { path })).toMatchObject({ code: 'outside_workspace' })
  for (const path of ['../outside/x', 'link/x', 'dangling'])
    expect(await anna.refused('write_file', { path, content: '' })).toMatchObject({
      code: 'outside_workspace',
    })
  for (const path of ['..', 'link', '/'])
    expect(await anna.refused('list_files', { path })).toMatchObject({ code: 'outside_workspace' })
  expect(await anna.refused('search_files', { path: 'link', glob: '*' })).toMatchObject({
    code: 'outside_workspace',
  })
  expect(await anna.refused('read_file', { path: 'loop' })).toMatchObject({ code: 'invalid_input' })
  expect(readdirSync(outside)).toEqual(['secret'])
})

test('a capability that names a file outside opens it, with its right alone; one for all files does not', async () => {
  const { outside } = workspace()
  writeFileSync(join(outside, 'notes'), 'hello')
  const opened = workspace([allow('read', `fs:${outside}/**`), allow('write', 'fs:/**')])
  const path = join(outside, 'notes')
  expect(await opened.anna.text('read_file', { path })).toBe('1\thello')
  expect(await opened.anna.refused('write_file', { path, content: 'x' })).toMatchObject({
    code: 'outside_workspace',
  })
})

test('the needs of a call name canonical paths, for the gate', async () => {
  const { root, outside, put, anna } = workspace()
  put('src/a.ts', '')
  symlinkSync(join(root, 'src'), join(root, 'alias'))
  const need = (right: string, path: string, attributes = {}) => ({
    right,
    resource: { kind: 'fs', path, workspace: root },
    attributes,
  })
  expect(await anna.needs('read_file', { path: 'alias/a.ts' })).toEqual([need('read', 'src/a.ts')])
  expect(await anna.needs('write_file', { path: 'alias/new.ts', content: '' })).toEqual([
    need('write', 'src/new.ts', { bytes: 0 }),
  ])
  const edits = [{ oldText: 'a', newText: 'b' }]
  expect(await anna.needs('edit_file', { path: '../outside/b', edits })).toEqual([
    need('read', join(outside, 'b')),
    // It would be refused: nothing is written.
    need('write', join(outside, 'b'), { bytes: 0 }),
  ])
  expect(await anna.needs('search_files', { glob: '*' })).toEqual([need('read', '.')])
})

test('a listing leaves out .git and what .gitignore names, and marks folders and links', async () => {
  const { root, put, anna } = workspace()
  put('.gitignore', '# built\n/dist\n*.log\n!keep.log\nnode_modules/\n')
  for (const path of ['a.ts', 'dist/a.js', 'x.log', 'keep.log', 'node_modules/b/i.js', '.git/HEAD'])
    put(path, '')
  put('src/.gitignore', 'generated\n')
  put('src/generated/a', '')
  put('src/dist/kept', '')
  symlinkSync('a.ts', join(root, 'link'))
  expect((await anna.text('list_files', { depth: 3 })).split('\n')).toEqual([
    '.gitignore',
    'a.ts',
    'keep.log',
    'link@',
    'src/',
    'src/.gitignore',
    'src/dist/',
    'src/dist/kept',
  ])
  expect((await anna.text('list_files', {})).split('\n')).toContain('src/')
  expect(await anna.text('list_files', { path: 'src' })).toBe('src/.gitignore\nsrc/dist/')
  expect(await anna.text('list_files', { includeIgnored: true })).toContain('node_modules/')
})

test('a search finds names by glob, and lines by text or by a regular expression', async () => {
  const { put, anna } = workspace()
  put('src/a.ts', 'const a = 1\nexport { a }\n')
  put('src/b.test.ts', 'test("A", () => {})\n')
  put('docs/a.md', 'about a\n')
  put('x.bin', Buffer.from('const\0'))
  expect(await anna.text('search_files', { glob: '*.ts' })).toBe('src/a.ts\nsrc/b.test.ts')
  expect(await anna.text('search_files', { glob: '**/*.{md,test.ts}' })).toBe('docs/a.md\nsrc/b.test.ts')
  expect(await anna.text('search_files', { text: 'const' })).toBe('src/a.ts:1: const a = 1')
  expect(await anna.text('search_files', { pattern: '^(export|about) ', glob: '**/a.*' })).toBe(
    'docs/a.md:1: about a\nsrc/a.ts:2: export { a }',
  )
  expect(await anna.text('search_files', { text: 'TEST', ignoreCase: true })).toBe(
    'src/b.test.ts:1: test("A", () => {})',
  )
  expect(await anna.text('search_files', { text: 'nothing' })).toBe('Nothing found in ..')
  expect(await anna.text('search_files', { text: 'a', limit: 1 })).toContain(
    '(only the first 1 matches are shown)',
  )
  expect(await anna.refused('search_files', { pattern: '(?=a)' })).toMatchObject({ code: 'invalid_input' })
  expect(await anna.refused('search_files', {})).toMatchObject({ code: 'invalid_input' })
  expect(await anna.refused('search_files', { text: 'a', pattern: 'b' })).toMatchObject({
    code: 'invalid_input',
  })
})

test('a search with a pattern that takes other engines exponential time ends', async () => {
  const { put, anna } = workspace()
  put('a', `${'a'.repeat(20_000)}b`)
  expect(await anna.text('search_files', { pattern: '(a+)+$' })).toBe('Nothing found in ..')
})

test('an aborted search ends with the reason', async () => {
  const { root } = workspace()
  const stop = new AbortController()
  stop.abort(new Error('enough'))
  const tools = fileTools({
    root,
    agent: ANNA,
    tracker: new FileTracker(NO_RECORDS, () => 0),
    isNamed: () => false,
    ...OPEN,
  })
  await expect(callerOf(tools, stop.signal).call('search_files', { glob: '*' })).rejects.toThrow('enough')
})

test('search_files names files that it cannot read', async () => {
  // Even root cannot read the memory of a process from its beginning.
  const root = realpathSync('/proc/self')
  const { text } = callerOf(
    fileTools({
      root,
      agent: ANNA,
      tracker: new FileTracker(NO_RECORDS, () => 0),
      isNamed: () => false,
      ...OPEN,
    }),
  )
  expect(await text('search_files', { glob: 'mem', text: 'x' })).toMatch(
    /^Nothing found in \.\.\n\(skipped, because they cannot be read: .*\bmem\b/,
  )
})

/** A folder whose path is longer than the operating system takes, so that nobody can list it. */
function tooDeep(root: string) {
  const name = '7'.padStart(250, '0')
  const script = `for (let i = 0; i < 17; i++) { fs.mkdirSync('${name}'); process.chdir('${name}') }`
  expect(spawnSync(process.execPath, ['-e', script], { cwd: root }).status).toBe(0)
  onTestFinished(() => void spawnSync('rm', ['-rf', root]))
}

test('search_files names folders that it cannot read', async () => {
  const { root, put, anna } = workspace()
  put('a.txt', 'one')
  tooDeep(root)
  const skipped = /\(skipped, because they cannot be read: [07/]+\)/
  expect(await anna.text('search_files', { text: 'one' })).toMatch(skipped)
  expect(await anna.text('search_files', { glob: '*.txt' })).toMatch(skipped)
})

test('a .gitignore that cannot be read is named, and ignores nothing', async () => {
  const { root, put, anna } = workspace()
  put('a.txt', 'one')
  put('below/b.txt', 'one')
  mkdirSync(join(root, '.gitignore'))
  mkdirSync(join(root, 'below/.gitignore'))
  const note = '(its rules are not applied, because it cannot be read: .gitignore, below/.gitignore)'
  expect(await anna.text('search_files', { text: 'one' })).toBe(`a.txt:1: one\nbelow/b.txt:1: one\n${note}`)
  expect(await anna.text('list_files', { depth: 2 })).toContain(`below/b.txt\n${note}`)
  expect(await anna.text('list_files', {})).toContain(
    '(its rules are not applied, because it cannot be read: .gitignore)',
  )
})
