import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { memoryAgents } from './memory/memory-agents.ts'
import { PlayedSession, rewindBench } from './rewind-bench.ts'

async function bench() {
  const made = await rewindBench()
  const at = (name: string) => join(made.workspace, name)
  return {
    ...made,
    at,
    put: (name: string, text: string) => writeFileSync(at(name), text),
    text: (name: string) => (existsSync(at(name)) ? readFileSync(at(name), 'utf8') : null),
  }
}

const read = (path: string) => ['read_file', { path }] as const
const write = (path: string, content: string) => ['write_file', { path, content }] as const
const edit = (path: string, oldText: string, newText: string) =>
  ['edit_file', { path, edits: [{ oldText, newText }] }] as const

const READ_MEMORY = ['memory_read', { path: 'memory/a.md' }] as const

test('files that the agent has changed, made and changed again are as before the turn', async () => {
  const { session, put, text, at, reeve, pid } = await bench()
  put('a.txt', 'one\n')
  await session.turn('first', [read('a.txt'), edit('a.txt', 'one', 'two')])
  await session.turn('second', [edit('a.txt', 'two', 'three'), write('new/b.txt', 'made')])
  await session.turn('third', [edit('a.txt', 'three', 'four')])
  const dry = await reeve.rewindAgent({ pid, turn: 2, dryRun: true })
  const files = [
    { path: at('a.txt'), fate: 'restored' },
    { path: at('new/b.txt'), fate: 'removed' },
  ]
  expect(dry).toMatchObject({ type: 'would_rewind', fileFates: { files, restored: 1, removed: 1, left: 0 } })
  expect([text('a.txt'), text('new/b.txt')]).toEqual(['four\n', 'made'])
  expect(await session.undo({ turn: 2 })).toMatchObject({ files, restored: 1, removed: 1, left: 0 })
  expect([text('a.txt'), text('new/b.txt')]).toEqual(['two\n', null])
  // The agent has seen this content in the first turn: it may go on.
  await session.turn('instead', [edit('a.txt', 'two', 'five')])
  expect(text('a.txt')).toBe('five\n')
})

test('an undo is done once, and is undone by a rewind to the branch that was left', async () => {
  const { session, put, text, reeve, pid } = await bench()
  put('a.txt', 'one\n')
  await session.turn('first', [read('a.txt'), edit('a.txt', 'one', 'two'), write('b.txt', 'made')])
  await session.undo({ turn: 1 })
  expect([text('a.txt'), text('b.txt')]).toEqual(['one\n', null])
  expect(await session.undo({ turn: 1 })).toMatchObject({ files: [], restored: 0, left: 0 })
  expect(await session.undo({ branch: '1' })).toMatchObject({ restored: 2, removed: 0, left: 0 })
  expect([text('a.txt'), text('b.txt')]).toEqual(['two\n', 'made'])
  const { text: log } = await reeve.exportAgent({ pid, format: 'markdown' })
  expect(log).toContain('put back')
})

test('files that something else has changed, links and held paths are listed and not touched', async () => {
  const { session, put, text, at } = await bench()
  for (const name of ['since', 'between', 'link', 'gone']) put(name, 'one\n')
  mkdirSync(at('real'))
  await session.turn('first', [
    ...['since', 'between', 'link', 'gone'].flatMap((name) => [read(name), edit(name, 'one', 'two')]),
  ])
  put('between', 'two and more\n')
  await session.turn('second', [read('between'), edit('between', 'more', 'less')])
  put('since', 'mine\n')
  renameSync(at('link'), at('real/link'))
  symlinkSync(at('real/link'), at('link'))
  renameSync(at('gone'), at('real/gone'))
  const { files } = await session.undo({ turn: 1 })
  expect(Object.fromEntries(files.map(({ path, fate }) => [basename(path), fate]))).toEqual({
    since: 'changed_since',
    between: 'changed_between',
    link: 'link',
    gone: 'changed_since',
  })
  expect([text('since'), text('between'), text('real/link'), text('gone')]).toEqual([
    'mine\n',
    'two and less\n',
    'two\n',
    null,
  ])
})

test('files of a rewind that left them are put back later, with the rewind to the same place', async () => {
  const { session, put, text, reeve, pid } = await bench()
  put('a.txt', 'one\n')
  await session.turn('first')
  await session.turn('second', [read('a.txt'), edit('a.txt', 'one', 'two')])
  const answer = await reeve.rewindAgent({ pid, turn: 2 })
  expect(answer.undone.files.count).toBe(1)
  expect(text('a.txt')).toBe('two\n')
  expect(await session.undo({ branch: '1' })).toMatchObject({ restored: 1 })
  expect(text('a.txt')).toBe('one\n')
})

test('an undo touches no long-term memory, and the reads of memory are those of the branch', async () => {
  const { reeve, model, workspace, start, keep } = await memoryAgents()
  const pid = await start()
  const session = new PlayedSession(reeve, model, pid)
  const memory = ['memory_write', { path: 'memory/a.md', content: 'kept' }] as const
  await session.turn('first', [memory, READ_MEMORY, READ_MEMORY, write('b.txt', 'made')])
  await keep([], {})
  const { files } = await session.undo({ turn: 1 })
  expect(files).toEqual([{ path: join(workspace, 'b.txt'), fate: 'removed' }])
  expect(readFileSync(join(workspace, 'memory/a.md'), 'utf8')).toBe('kept')
  const prompts = await session.turn('instead', [READ_MEMORY, ['memory_query', {}]])
  expect(prompts.at(-1)?.match(/read .{1,10} in this session/g)).toEqual(['read once in this session'])
})
