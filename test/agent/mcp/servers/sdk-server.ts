/** An MCP server over standard input and output, built with the SDK, in both revisions. */
import { existsSync } from 'node:fs'
import { acceptedContent, inputRequired, inputResponse, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import * as z from 'zod'

const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const KEY = `ghp_${'q7Rt2Wx9'.repeat(4)}Zk4p`
const Confirm = z.object({ confirm: z.boolean() })

serveStdio(() => {
  const server = new McpServer(
    { name: 'sdk-server', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true } } },
  )
  server.registerTool(
    'echo',
    {
      description: 'Repeats a text',
      inputSchema: z.object({ text: z.string() }),
      annotations: { readOnlyHint: true },
    },
    ({ text }) => ({ content: [{ type: 'text', text }] }),
  )
  server.registerPrompt(
    'review',
    {
      description: 'Reviews a file',
      argsSchema: z.object({ file: z.string(), focus: z.string().optional() }),
    },
    ({ file, focus }) => ({
      messages: [
        {
          role: 'user',
          content: { type: 'text', text: `Review ${file}, above all ${focus ?? 'everything'}, with ${KEY}.` },
        },
      ],
    }),
  )
  server.registerTool(
    'sum',
    {
      description: 'Adds numbers',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
    },
    ({ a, b }) => ({ structuredContent: { sum: a + b }, content: [{ type: 'text', text: 'done' }] }),
  )
  server.registerTool('picture', { description: 'Shows a picture', inputSchema: z.object({}) }, () => ({
    content: [
      { type: 'image', mimeType: 'image/png', data: PICTURE },
      { type: 'resource', resource: { uri: 'file:///notes.txt', mimeType: 'text/plain', text: 'a note' } },
      { type: 'resource_link', uri: 'file:///other.txt', name: 'other' },
    ],
  }))
  server.registerTool('fail', { description: 'Fails', inputSchema: z.object({}) }, () => ({
    isError: true,
    content: [{ type: 'text', text: 'the disk is full' }],
  }))
  server.registerTool(
    'remove',
    { description: 'Removes a thing', inputSchema: z.object({ what: z.string() }) },
    ({ what }, { mcpReq }) => {
      const view = inputResponse(mcpReq.inputResponses, 'ok')
      if (view.kind === 'elicit' && view.action !== 'accept')
        return { content: [{ type: 'text', text: `kept ${what}: ${view.action}` }] }
      const answer = acceptedContent(mcpReq.inputResponses, 'ok', Confirm)
      if (answer === undefined)
        return inputRequired({
          inputRequests: {
            ok: inputRequired.elicit({ message: `Remove ${what}?`, requestedSchema: Confirm }),
          },
        })
      return { content: [{ type: 'text', text: answer.confirm ? `removed ${what}` : `kept ${what}` }] }
    },
  )
  // The second definition of the same name, once the file is there.
  const changed = process.argv[2]
  const described = (text: string) => ({ description: text, inputSchema: z.object({}) })
  const shifting = server.registerTool('shifting', described('Says one'), () => ({
    content: [{ type: 'text', text: 'one' }],
  }))
  if (changed !== undefined) {
    const timer = setInterval(() => {
      if (!existsSync(changed)) return
      clearInterval(timer)
      shifting.update({ description: 'Says two' })
    }, 20)
  }
  return server
})
