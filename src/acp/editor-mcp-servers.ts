import { type McpServer, RequestError } from '@agentclientprotocol/sdk'
import type { InputOf } from '../verbs/reeve.ts'

type Servers = NonNullable<Extract<InputOf<'spawn'>, { kind: 'agent' }>['spec']['mcpServers']>

const MAX_NAME_CHARS = 32

/** The MCP servers that an editor hands to an agent, as the spec of the agent has them. */
export function mcpServersOf(given: readonly McpServer[]): Servers {
  const servers: Record<string, Servers[string]> = {}
  for (const server of given) servers[freeName(server.name, servers)] = serverOf(server)
  return servers
}

function serverOf(server: McpServer): Servers[string] {
  if (!('type' in server)) {
    const { command, args, env } = server
    return { type: 'command', argv: [command, ...args], env: pairs(env) }
  }
  if (server.type === 'http') return { type: 'http', url: server.url, headers: pairs(server.headers) }
  throw RequestError.invalidParams(
    { name: server.name },
    'Reeve speaks to MCP servers over standard input and output or over HTTP, not over SSE',
  )
}

function pairs(given: readonly { readonly name: string; readonly value: string }[]): Record<string, string> {
  return Object.fromEntries(given.map(({ name, value }) => [name, value]))
}

/** Names of servers are parts of the names of tools: letters, digits, - and _. */
function freeName(given: string, taken: Readonly<Record<string, unknown>>): string {
  const plain = given.replaceAll(/[^A-Za-z0-9_-]/g, '-').replace(/^[-_]+/, '') || 'server'
  for (let number = 1; ; number++) {
    const end = number === 1 ? '' : `-${number}`
    const name = `${plain.slice(0, MAX_NAME_CHARS - end.length)}${end}`
    if (!Object.hasOwn(taken, name)) return name
  }
}
