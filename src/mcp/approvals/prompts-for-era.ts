import type { McpServer } from '@modelcontextprotocol/server'
import type { McpClient } from '../client.ts'
import { AskedInCalls } from './asked-in-calls.ts'
import type { Prompts } from './prompts.ts'
import { PushedPrompts } from './pushed-prompts.ts'

export function promptsForEra(server: McpServer, client: McpClient): Prompts {
  return client.era === 'modern' ? new AskedInCalls(client) : new PushedPrompts(server, client)
}
