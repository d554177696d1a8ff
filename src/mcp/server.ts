import { McpServer } from '@modelcontextprotocol/server'
import { ownVersion } from '../package/own-files.ts'
import { identityOf, type McpClient } from './client.ts'
import { processTasks } from './process-tasks.ts'
import { registerResources } from './resources.ts'
import { wantsStructured } from './structured.ts'
import { serveTasks } from './tasks.ts'
import { register } from './tool.ts'
import { inbox } from './tools/inbox.ts'
import { interrupt } from './tools/interrupt.ts'
import { processKill } from './tools/process-kill.ts'
import { processList } from './tools/process-list.ts'
import { processLog } from './tools/process-log.ts'
import { processPoll } from './tools/process-poll.ts'
import { processRestart } from './tools/process-restart.ts'
import { processScreen } from './tools/process-screen.ts'
import { processSearch } from './tools/process-search.ts'
import { processStart } from './tools/process-start.ts'
import { processWait } from './tools/process-wait.ts'
import { processWrite } from './tools/process-write.ts'

const INSTRUCTIONS = [
  'Reeve runs commands that outlive you. Prefer process_start to your own shell for what is slow, does not end by itself, is',
  'interactive, or must survive this turn or a crash: servers, watchers, builds, test runs, REPLs, terminal programs. For a',
  'quick command that ends by itself (ls, git status) your own shell is as good.',
  'process_start answers within a second, with all of the output or with a pid. Then process_wait waits for the end or a line',
  'of output, process_poll shows what is new, process_log and process_search read older output, process_write types,',
  'process_screen shows a terminal, process_kill ends. Output is shown as a terminal would show it, lines are counted from 1.',
  'When you come back to a project, process_list shows what still runs and inbox what has happened since.',
].join(' ')

const LISTED = { ttlMs: 60_000, cacheScope: 'public' } as const

/** The MCP server of one connection or one request: cheap to make, and without durable state. */
export function mcpServer(client: McpClient): McpServer {
  const server = new McpServer(
    { name: 'reeve', title: 'Reeve', version: VERSION },
    {
      instructions: INSTRUCTIONS,
      capabilities: { tools: { listChanged: false }, resources: { subscribe: true, listChanged: false } },
      cacheHints: { 'tools/list': LISTED, 'resources/templates/list': LISTED },
    },
  )
  register(server, client, processStart)
  register(server, client, processList)
  register(server, client, processPoll)
  register(server, client, processLog)
  register(server, client, processSearch)
  register(server, client, processScreen)
  register(server, client, processWait)
  register(server, client, processWrite)
  register(server, client, processKill)
  register(server, client, processRestart)
  register(server, client, interrupt)
  register(server, client, inbox)
  registerResources(server, client)
  if (client.era === 'modern') {
    const processes = processTasks(async (ctx) => {
      const { session } = await client.workspace(identityOf(server, ctx))
      return { session, structured: wantsStructured(client, ctx) }
    })
    serveTasks(server, processes)
  }
  return server
}

const VERSION = ownVersion()
