import { readFileSync } from 'node:fs'
import { messageOf } from '../../base/error-text.ts'
import { isObject } from '../../base/is-object.ts'
import type { InputOf } from '../../verbs/reeve.ts'
import { UsageError } from '../usage-error.ts'

type Servers = NonNullable<Extract<InputOf<'spawn'>, { kind: 'agent' }>['spec']['mcpServers']>

/**
 * The MCP servers in a file: as the spec of an agent has them, or as other clients do (`command` and `args`, or `url`). The daemon checks
 * the rest.
 */
export function mcpServersIn(file: string): Servers {
  const parsed = parse(file)
  const servers = isObject(parsed) && isObject(parsed['mcpServers']) ? parsed['mcpServers'] : parsed
  if (!isObject(servers)) throw unusable(file, 'it has no object of servers by name')
  return Object.fromEntries(
    Object.entries(servers).map(([name, given]) => [name, serverOf(file, name, given)]),
  )
}

function serverOf(file: string, name: string, given: unknown): Servers[string] {
  if (!isObject(given)) throw unusable(file, `${name} is no object`)
  const { command, args = [], type: _, ...rest } = given
  const { argv, run, url } = given
  const untyped: unknown =
    typeof command === 'string' && Array.isArray(args)
      ? { type: 'command', argv: [command, ...args], ...rest }
      : { ...given, type: url === undefined ? 'command' : 'http' }
  if (command === undefined && argv === undefined && run === undefined && url === undefined)
    throw unusable(file, `${name} has neither a command nor a url`)
  return untyped as Servers[string]
}

function parse(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw unusable(file, messageOf(error))
  }
}

function unusable(file: string, why: string): UsageError {
  return new UsageError(
    `--mcp ${file}: ${why}.`,
    'Give a JSON file like {"mcpServers": {"files": {"command": "mcp-files", "args": []}}}.',
  )
}
