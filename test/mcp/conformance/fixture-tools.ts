import { setTimeout as after } from 'node:timers/promises'
import { fromJsonSchema, type McpServer, type ServerContext } from '@modelcontextprotocol/server'
import * as z from 'zod'

/** One red pixel. */
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
/** A WAV file without any samples. */
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA='

const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] })

/** The tools that the suite expects of a server besides its own; their names and texts are the suite's. */
export function addFixtureTools(server: McpServer): void {
  server.registerTool('test_simple_text', { description: 'Answers with text' }, async () =>
    text('This is a simple text response for testing.'),
  )
  server.registerTool('test_image_content', { description: 'Answers with an image' }, async () => ({
    content: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }],
  }))
  server.registerTool('test_audio_content', { description: 'Answers with a sound' }, async () => ({
    content: [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }],
  }))
  server.registerTool('test_embedded_resource', { description: 'Answers with a resource' }, async () => ({
    content: [
      {
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      },
    ],
  }))
  server.registerTool('test_multiple_content_types', { description: 'Answers with a mixture' }, async () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: PIXEL, mimeType: 'image/png' },
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: '{"test":"data","value":123}',
        },
      },
    ],
  }))
  server.registerTool('test_tool_with_logging', { description: 'Logs as it goes' }, async (ctx) => {
    await ctx.mcpReq.log('info', 'Tool execution started')
    await after(50)
    await ctx.mcpReq.log('info', 'Tool processing data')
    await after(50)
    await ctx.mcpReq.log('info', 'Tool execution completed')
    return text('Logged three times.')
  })
  server.registerTool('test_tool_with_progress', { description: 'Tells of its progress' }, async (ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken
    for (const progress of [0, 50, 100]) {
      const params = { progressToken, progress, total: 100 }
      if (progressToken !== undefined) await ctx.mcpReq.notify({ method: 'notifications/progress', params })
      if (progress < 100) await after(50)
    }
    return text('Went from 0 to 100.')
  })
  server.registerTool('test_error_handling', { description: 'Fails' }, async () => {
    throw new Error('This tool intentionally returns an error for testing')
  })
  server.registerTool(
    'test_reconnection',
    { description: 'Closes its stream before it answers' },
    async (ctx) => {
      ctx.http?.closeSSE?.()
      await after(100)
      return text('Reconnection test completed successfully')
    },
  )
  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'Has a schema with newer words', inputSchema: fromJsonSchema(NEWER_SCHEMA) },
    async () => text('Valid.'),
  )
  addAskingTools(server)
}

const NEWER_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
} as const

/** Those that ask the client something: a completion of its model, or an answer of its user. */
function addAskingTools(server: McpServer): void {
  const prompt = z.object({ prompt: z.string() })
  server.registerTool(
    'test_sampling',
    { description: 'Asks the model', inputSchema: prompt },
    async (given, ctx) => {
      const answer = await ctx.mcpReq.requestSampling({
        messages: [{ role: 'user', content: { type: 'text', text: given.prompt } }],
        maxTokens: 100,
      })
      return text(`LLM response: ${JSON.stringify(answer.content)}`)
    },
  )
  const message = z.object({ message: z.string() })
  server.registerTool(
    'test_elicitation',
    { description: 'Asks the user', inputSchema: message },
    async (given, ctx) =>
      text(
        await asked(ctx, given.message, 'User response', {
          properties: {
            username: { type: 'string', description: "User's response" },
            email: { type: 'string', description: "User's email address" },
          },
          required: ['username', 'email'],
        }),
      ),
  )
  server.registerTool(
    'test_elicitation_sep1034_defaults',
    { description: 'Asks with defaults' },
    async (ctx) =>
      text(await asked(ctx, 'Please check these.', 'Elicitation completed', { properties: DEFAULTS })),
  )
  server.registerTool('test_elicitation_sep1330_enums', { description: 'Asks for choices' }, async (ctx) =>
    text(await asked(ctx, 'Please choose.', 'Elicitation completed', { properties: CHOICES })),
  )
}

type Requested = Extract<
  Parameters<ServerContext['mcpReq']['elicitInput']>[0],
  { requestedSchema: unknown }
>['requestedSchema']

async function asked(
  ctx: ServerContext,
  message: string,
  said: string,
  schema: { readonly properties: Requested['properties']; readonly required?: string[] },
): Promise<string> {
  const requestedSchema: Requested = { ...schema, type: 'object' }
  const { action, content } = await ctx.mcpReq.elicitInput({ mode: 'form', message, requestedSchema })
  return `${said}: action=${action}, content=${JSON.stringify(content ?? {})}`
}

const DEFAULTS: Requested['properties'] = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
}

const OPTIONS = ['option1', 'option2', 'option3']
const VALUES = ['value1', 'value2', 'value3']
const CHOICES: Requested['properties'] = {
  untitledSingle: { type: 'string', enum: OPTIONS },
  titledSingle: {
    type: 'string',
    oneOf: VALUES.map((value) => ({ const: value, title: `Option ${value}` })),
  },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: OPTIONS } },
  titledMulti: {
    type: 'array',
    items: { anyOf: VALUES.map((value) => ({ const: value, title: `Choice ${value}` })) },
  },
}
