import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { mcpServersIn } from '../../../src/cli/agent/mcp-file.ts'
import { tempFolder } from '../../temp-folder.ts'

const fileWith = (text: string) => {
  const file = join(tempFolder(), 'servers.json')
  writeFileSync(file, text)
  return file
}
const servers = (value: unknown) => mcpServersIn(fileWith(JSON.stringify(value)))

test('servers are read as other clients write them, and as the spec of an agent has them', () => {
  const spec = { type: 'command', argv: ['mcp-files'], env: { TOKEN: { secret: 'FILES' } } }
  expect(
    servers({
      mcpServers: {
        notes: { command: 'node', args: ['notes.mjs'], env: { A: '1' } },
        alone: { type: 'stdio', command: 'mcp-alone' },
        web: { type: 'sse', url: 'https://mcp.example/v1', headers: { 'X-Team': 'blue' } },
        spec,
      },
    }),
  ).toEqual({
    notes: { type: 'command', argv: ['node', 'notes.mjs'], env: { A: '1' } },
    alone: { type: 'command', argv: ['mcp-alone'] },
    web: { type: 'http', url: 'https://mcp.example/v1', headers: { 'X-Team': 'blue' } },
    spec,
  })
  expect(servers({ notes: { command: 'x' } })).toEqual({ notes: { type: 'command', argv: ['x'] } })
})

test('a file without servers says what it should have', () => {
  expect(() => mcpServersIn('/no/such/file')).toThrow('--mcp /no/such/file: ENOENT')
  expect(() => mcpServersIn(fileWith('{'))).toThrow('JSON')
  expect(() => servers([])).toThrow('it has no object of servers by name')
  expect(() => servers({ a: 1 })).toThrow('a is no object')
  expect(() => servers({ a: {} })).toThrow('a has neither a command nor a url')
})
