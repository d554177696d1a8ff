/** A kernel in its own OS process, which begins one call of an MCP server, and prints the pids of the agent and of the call. */
import { embed } from 'reeve'
import { callRequest, openMcpKernel } from './mcp-kernel.ts'

const [store = '', home = '', options = ''] = process.argv.slice(2)
const { server, tool, given } = JSON.parse(options)
const { reeve } = await openMcpKernel((tools) =>
  embed({ store, tools, commands: { home, environment: 'inherit', shell: '/bin/sh' } }),
)
const agent = await reeve.spawn({
  kind: 'agent',
  spec: { agent: 'tester', mcpServers: { rough: server } },
})
const call = await reeve.spawn(callRequest(agent.record.pid, tool, given))
console.log(JSON.stringify({ agent: agent.record.pid, call: call.record.pid }))
