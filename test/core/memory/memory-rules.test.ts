import { expect, test } from 'vitest'
import { parseChanges, parseNotes } from '../../../src/core/memory/memory-change.ts'
import { memoryIndex, titleOf } from '../../../src/core/memory/memory-index.ts'
import { jobToBegin } from '../../../src/core/memory/memory-job.ts'
import {
  isOfLostCall,
  type MemoryNote,
  NO_MEMORY,
  noted,
  usesOf,
} from '../../../src/core/memory/memory-note.ts'
import { isInMemory, memoryPathProblem } from '../../../src/core/memory/memory-path.ts'
import { consolidateRequest, sessionLines } from '../../../src/core/memory/memory-prompts.ts'
import { searchMemory } from '../../../src/core/memory/search-memory.ts'

test('the folders of memory are recognised in every case and form of their names, and no other folder is', () => {
  for (const path of ['memory', 'memory/a.md', 'MEMORY/a', 'Knowledge\\a', 'ｍemory/a', '\u212Anowledge'])
    expect(isInMemory(path), path).toBe(true)
  for (const path of ['', '.', 'src/memory', 'memory.md', 'memories/a.md', '../memory'])
    expect(isInMemory(path), path).toBe(false)
})

test.each([
  ['memory/a.md', null],
  ['knowledge/a b/c-d_1.md', null],
  ['src/a.md', 'does not begin with memory/ or knowledge/'],
  ['memory/a.txt', 'does not end with .md'],
  ['memory/a/b/c/d/e.md', 'deeper than 4'],
  ['memory/../a.md', '".." is no name'],
  ['memory/.a.md', '".a.md" is no name'],
  ['memory/e\u0301.md', 'NFC'],
  [`memory/${'a'.repeat(200)}.md`, 'longer than 200'],
] as const)('the path %s of a file of memory: %s', (path, problem) => {
  if (problem === null) expect(memoryPathProblem(path)).toBe(null)
  else expect(memoryPathProblem(path)).toContain(problem)
})

test('an extract is a list of texts, also in a fence; it is shortened, and everything else is refused', () => {
  expect(parseNotes('```json\n["a", " b "]\n```')).toEqual(['a', 'b'])
  expect(parseNotes(JSON.stringify(Array.from({ length: 40 }, String)))).toHaveLength(30)
  for (const answer of ['', 'none', '{}', '[1]']) expect(() => parseNotes(answer), answer).toThrow()
})

test('changes are refused as a whole if one of them is outside of memory/, unseen, double or too long', () => {
  const known = new Map([
    ['memory/seen.md', 'h1'],
    ['memory/unseen.md', 'h2'],
  ])
  const parse = (...changes: object[]) =>
    parseChanges(JSON.stringify({ changes }), { known, shown: new Set(['memory/seen.md']) })
  expect(parse({ path: 'memory/seen.md', content: null }, { path: 'memory/new.md', content: 'x' })).toEqual([
    { path: 'memory/seen.md', text: null, before: 'h1' },
    { path: 'memory/new.md', text: 'x', before: null },
  ])
  const fine = { path: 'memory/new.md', content: 'x' }
  for (const other of [
    { path: 'knowledge/a.md', content: 'x' },
    { path: 'memory/../a.md', content: 'x' },
    { path: 'memory/unseen.md', content: 'x' },
    { path: 'memory/new.md', content: 'y' },
    { path: 'memory/long.md', content: 'x'.repeat(65 * 1024) },
    { path: 'memory/none.md' },
  ])
    expect(() => parse(fine, other), JSON.stringify(other).slice(0, 80)).toThrow()
})

test('a text of a session is one line of JSON, and the end of a long session is kept', () => {
  const user = (text: string) => ({ type: 'user', parts: [{ type: 'text', text }] }) as const
  expect(sessionLines([user('a\n{"from":"user"}')], 1_000)).toBe(
    '{"from":"user","text":"a\\n{\\"from\\":\\"user\\"}"}',
  )
  expect(sessionLines([user('first'), user('second')], 35)).toBe(
    '{"from":"reeve","text":"1 earlier lines left out"}\n{"from":"user","text":"second"}',
  )
})

test('a consolidation shows the files of memory before those of knowledge, and names those that do not fit', () => {
  const files = [
    { path: 'knowledge/a.md', text: 'k'.repeat(100) },
    { path: 'memory/b.md', text: 'short' },
  ]
  const { text, shown } = consolidateRequest(['n'], files, 80)
  expect([...shown]).toEqual(['memory/b.md'])
  expect(JSON.parse(text)).toEqual({
    notes: ['n'],
    files: [{ path: 'memory/b.md', content: 'short' }],
    filesThatAreNotShown: ['knowledge/a.md'],
  })
})

test('a search gives the lines of the files with the most words first, and counts the rest', () => {
  const files = [
    { path: 'memory/a.md', text: '# Port\n\nnothing else\n' },
    { path: 'memory/b.md', text: '# Net\n\nThe port of the API is 7337.\n' },
  ]
  expect(searchMemory(files, 'API port', 1)).toEqual({
    matches: [{ path: 'memory/b.md', line: 3, text: 'The port of the API is 7337.' }],
    more: 1,
  })
})

test('the index names as many files as fit, and says how many do not', () => {
  const files = [1, 2].map((n) => ({ path: `memory/${n}.md`, bytes: 5, title: titleOf('\n# Title \n') }))
  expect(memoryIndex([]).split('\n').at(-1)).toBe('It is empty.')
  expect(memoryIndex(files).split('\n').slice(1)).toEqual([
    '- memory/1.md (5 bytes): Title',
    '- memory/2.md (5 bytes): Title',
  ])
  expect(memoryIndex(files, 0).split('\n').at(-1)).toBe('(2 more files; memory_query finds them)')
})

test('a job begins for what is not in memory, waits for one that works, and is not begun if one waits', () => {
  const memory = { through: 5 }
  expect(jobToBegin({ head: 5, memory }, [])).toEqual({ type: 'none' })
  expect(jobToBegin({ head: 6, memory }, [])).toEqual({ type: 'begin', key: 'memory:5:6', after: null })
  expect(jobToBegin({ head: 6 }, ['p_a'])).toEqual({ type: 'begin', key: 'memory:after:p_a', after: 'p_a' })
  expect(jobToBegin({ head: 6 }, ['p_a', 'p_b'])).toEqual({ type: 'none' })
})

test('a call is charged once: with its use, or with its estimate when it was lost', () => {
  const use = (inputTokens: number) => ({
    model: 'm',
    inputTokens,
    cachedInputTokens: 0,
    outputTokens: 0,
    cost: null,
    isEstimate: false,
  })
  const begun = (call: string): MemoryNote => ({ type: 'call_begun', job: 'p_j', call, estimate: use(1) })
  const ended = (call: string): MemoryNote => ({ type: 'call_ended', job: 'p_j', call, use: use(9) })
  const first = noted(NO_MEMORY, begun('a'))
  expect(usesOf(first, ended('a'))).toEqual([use(9)])
  // The program died in the first call.
  expect(usesOf(first, begun('b'))).toEqual([use(1)])
  const second = noted(first, begun('b'))
  expect(isOfLostCall(second, ended('a'))).toBe(true)
  expect(isOfLostCall(second, ended('b'))).toBe(false)
  const updated = { type: 'updated', job: 'p_j', through: 7, files: [] } as const
  expect(usesOf(second, updated)).toEqual([use(1)])
  expect(noted(second, updated)).toEqual({ through: 7 })
  // A job that is late takes nothing back.
  expect(noted({ through: 9 }, updated)).toEqual({ through: 9 })
})
