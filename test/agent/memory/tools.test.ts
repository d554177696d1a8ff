import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { AgentBench } from '../toolbox/agent-bench.ts'

const MEMORY = { memory: true }

/** A workspace with memory and knowledge. */
async function withMemory() {
  const bench = new AgentBench()
  const { workspace } = bench
  for (const folder of ['memory', 'knowledge', 'src']) mkdirSync(join(workspace, folder))
  writeFileSync(join(workspace, 'memory/build.md'), '# How to build\n\nRun make all.\n')
  writeFileSync(join(workspace, 'knowledge/api.md'), 'The API listens on port 7337.\n')
  writeFileSync(join(workspace, 'src/a.ts'), 'make all\n')
  return { bench, workspace, reeve: await bench.open() }
}

const call = (tool: string, input: object) => ({ tool, input: { ...input } })

test('an agent reads, writes, edits, deletes and searches memory with its tools, which count the reads of the session', async () => {
  const { bench, reeve, workspace } = await withMemory()
  const texts = (
    await bench.results(
      reeve,
      [
        [call('memory_read', { path: 'memory/build.md' })],
        [call('memory_read', { path: 'memory/build.md' })],
        [
          call('memory_edit', {
            path: 'memory/build.md',
            edits: [{ oldText: 'make all', newText: 'make -j2' }],
          }),
        ],
        [call('memory_write', { path: 'memory/team/people.md', content: 'Ada reviews.\n' })],
        [call('memory_query', { text: 'PORT of the api' })],
        [call('memory_query', {})],
        [call('memory_read', { path: 'knowledge/api.md' })],
        [call('memory_delete', { path: 'knowledge/api.md' })],
        [call('memory_write', { path: 'knowledge/api.md', content: 'again\n' })],
      ],
      MEMORY,
    )
  ).map(({ text }) => text)
  expect(texts[0]).toContain('Run make all.')
  expect(texts[2]).toBe('Edited memory/build.md: 1 replacement.')
  expect(texts[3]).toBe('Made memory/team/people.md.')
  expect(texts[4]).toBe('knowledge/api.md:1: The API listens on port 7337.')
  expect(texts[5]?.split('\n')).toEqual([
    'knowledge/api.md (30 bytes): The API listens on port 7337.',
    'memory/build.md (30 bytes, read 2 times in this session): How to build',
    'memory/team/people.md (13 bytes): Ada reviews.',
  ])
  expect(texts[7]).toBe('Deleted knowledge/api.md.')
  expect(texts[8]).toBe('Made knowledge/api.md.')
  expect(readFileSync(join(workspace, 'memory/build.md'), 'utf8')).toBe('# How to build\n\nRun make -j2.\n')
})

test('the other file tools are denied there, however the path is written, and their error names the tools of memory', async () => {
  const { bench, reeve, workspace } = await withMemory()
  symlinkSync('memory', join(workspace, 'notes'))
  symlinkSync('../memory/build.md', join(workspace, 'src/link.md'))
  const paths = [
    'memory/build.md',
    './src/../memory/build.md',
    join(workspace, 'memory', 'build.md'),
    'notes/build.md',
    'src/link.md',
    'Memory/build.md',
    'KNOWLEDGE/api.md',
  ]
  const calls = paths.flatMap((path) => [
    call('read_file', { path }),
    call('write_file', { path, content: 'x' }),
    call('edit_file', { path, edits: [{ oldText: 'make', newText: 'x' }] }),
  ])
  const results = await bench.results(
    reeve,
    [calls, [call('list_files', { path: 'memory' }), call('search_files', { path: 'notes', text: 'make' })]],
    MEMORY,
  )
  expect(results).toHaveLength(calls.length + 2)
  for (const { isError, text } of results) {
    expect(isError).toBe(true)
    expect(text).toContain('memory_read')
  }
  expect(readFileSync(join(workspace, 'memory/build.md'), 'utf8')).toBe('# How to build\n\nRun make all.\n')
  expect(existsSync(join(workspace, 'Memory'))).toBe(false)
})

test('a list and a search of the workspace leave memory out', async () => {
  const { bench, reeve } = await withMemory()
  const [listed, found] = await bench.results(
    reeve,
    [[call('list_files', { depth: 5 }), call('search_files', { text: 'make all' })]],
    MEMORY,
  )
  expect(listed?.text.split('\n')).toEqual(['src/', 'src/a.ts'])
  expect(found?.text).toBe('src/a.ts:1: make all')
})

test('without memory the folders are folders like others, and there are no tools of memory', async () => {
  const { bench, reeve } = await withMemory()
  const [read, memory] = await bench.results(reeve, [
    [call('read_file', { path: 'memory/build.md' }), call('memory_read', { path: 'memory/build.md' })],
  ])
  expect(read).toMatchObject({ isError: false })
  expect(memory).toMatchObject({ isError: true })
})

test('paths of memory cannot lead out of it: no .., no links, no other case, no other type of file', async () => {
  const { bench, reeve, workspace } = await withMemory()
  writeFileSync(join(workspace, 'secret.md'), 'secret\n')
  symlinkSync('../secret.md', join(workspace, 'memory/link.md'))
  symlinkSync('../src', join(workspace, 'memory/folder'))
  const paths = [
    'memory/../secret.md',
    'memory/./build.md',
    'memory\\..\\secret.md',
    '/etc/passwd.md',
    'src/a.md',
    'memory/a.txt',
    'memory/.hidden.md',
    'memory/link.md',
    'memory/folder/b.md',
    'Memory/build.md',
    'memory/Build.md',
    'memory/a/b/c/d/e.md',
    'memory/x\u0000.md',
  ]
  const results = await bench.results(
    reeve,
    [paths.map((path) => call('memory_write', { path, content: 'x' }))],
    MEMORY,
  )
  expect(results).toHaveLength(paths.length)
  for (const { isError } of results) expect(isError).toBe(true)
  const reads = await bench.results(reeve, [paths.map((path) => call('memory_read', { path }))], MEMORY)
  for (const { isError, text } of reads) {
    expect(isError).toBe(true)
    expect(text).not.toContain('secret\n')
  }
  expect(readFileSync(join(workspace, 'secret.md'), 'utf8')).toBe('secret\n')
  expect(existsSync(join(workspace, 'src/b.md'))).toBe(false)
})

test('a file is changed only by an agent that has read it as it is, and has a bound', async () => {
  const { bench, reeve, workspace } = await withMemory()
  const big = 'x'.repeat(64 * 1024 + 1)
  const [unread, large, edit] = await bench.results(
    reeve,
    [
      [
        call('memory_write', { path: 'memory/build.md', content: 'x' }),
        call('memory_write', { path: 'memory/big.md', content: big }),
        call('memory_edit', { path: 'memory/none.md', edits: [{ oldText: 'a', newText: 'b' }] }),
      ],
    ],
    MEMORY,
  )
  expect(unread?.text).toContain('you have not read it')
  expect(large?.text).toContain('at most 65536')
  expect(edit?.text).toBe('There is no file memory/none.md. memory_query lists all.')
  expect(existsSync(join(workspace, 'memory/big.md'))).toBe(false)
})

test('memory has at most 256 files, also when the last ones are written at once', async () => {
  const { bench, reeve, workspace } = await withMemory()
  for (let index = 0; index < 252; index++) writeFileSync(join(workspace, `memory/n${index}.md`), 'x\n')
  const results = await bench.results(
    reeve,
    [[1, 2, 3, 4].map((index) => call('memory_write', { path: `memory/new${index}.md`, content: 'x' }))],
    MEMORY,
  )
  expect(results.filter(({ isError }) => !isError)).toHaveLength(2)
})

test('the rules of the agent hold for memory as for other files', async () => {
  const { bench, reeve, workspace } = await withMemory()
  const [write] = await bench.results(
    reeve,
    [[call('memory_write', { path: 'memory/new.md', content: 'x' })]],
    { ...MEMORY, preset: 'observe' },
  )
  expect(write).toMatchObject({ isError: true })
  expect(existsSync(join(workspace, 'memory/new.md'))).toBe(false)
})
