import { McpServer } from '@modelcontextprotocol/server'
import { ownVersion } from '../package/own-files.ts'
import { registerOperatorTools } from './approvals/operator-tools.ts'
import { promptsForEra } from './approvals/prompts-for-era.ts'
import { identityOf, type McpClient } from './client.ts'
import { processTasks } from './process-tasks.ts'
import { registerResources } from './resources.ts'
import { wantsStructured } from './structured.ts'
import { serveTasks } from './tasks.ts'
import { register } from './tool.ts'
import { agentList } from './tools/agent-list.ts'
import { agentRead } from './tools/agent-read.ts'
import { agentSend } from './tools/agent-send.ts'
import { agentStart } from './tools/agent-start.ts'
import { agentWait } from './tools/agent-wait.ts'
import { humanAsk } from './tools/human-ask.ts'
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
/** An operator has tools that others do not have. */
const LISTED_TO_ONE = { ttlMs: 60_000, cacheScope: 'private' } as const

/** The MCP server of one connection or one request: cheap to make, and without durable state. */
export function mcpServer(client: McpClient): McpServer {
  const server = new McpServer(
    { name: 'reeve', title: 'Reeve', version: VERSION },
    {
      instructions: INSTRUCTIONS,
      capabilities: { tools: { listChanged: false }, resources: { subscribe: true, listChanged: false } },
      cacheHints: { 'tools/list': LISTED_TO_ONE, 'resources/templates/list': LISTED },
    },
  )
  const prompts = promptsForEra(server, client)
  register(server, client, prompts, processStart)
  register(server, client, prompts, processList)
  register(server, client, prompts, processPoll)
  register(server, client, prompts, processLog)
  register(server, client, prompts, processSearch)
  register(server, client, prompts, processScreen)
  register(server, client, prompts, processWait)
  register(server, client, prompts, processWrite)
  register(server, client, prompts, processKill)
  register(server, client, prompts, processRestart)
  register(server, client, prompts, interrupt)
  register(server, client, prompts, inbox)
  register(server, client, prompts, humanAsk)
  if (client.operator !== undefined) {
    registerOperatorTools(server, client, client.operator)
    // The list of other clients is as long as clients send to a model.
    register(server, client, prompts, agentStart)
    register(server, client, prompts, agentSend)
    register(server, client, prompts, agentRead)
    register(server, client, prompts, agentWait)
    register(server, client, prompts, agentList)
  }
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
