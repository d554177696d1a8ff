import { completable, type McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { PIXEL } from './fixture-tools.ts'

/** The resources and prompts that the suite expects of a server; their names and texts are the suite's. */
export function addFixtureResources(server: McpServer): void {
  const plain = (name: string, uri: string, said: string) =>
    server.registerResource(name, uri, { description: said, mimeType: 'text/plain' }, async () => ({
      contents: [{ uri, mimeType: 'text/plain', text: said }],
    }))
  plain('static-text', 'test://static-text', 'This is the content of the static text resource.')
  plain('watched-resource', 'test://watched-resource', 'This one can be watched.')
  server.registerResource(
    'static-binary',
    'test://static-binary',
    { description: 'An image', mimeType: 'image/png' },
    async () => ({ contents: [{ uri: 'test://static-binary', mimeType: 'image/png', blob: PIXEL }] }),
  )
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { description: 'Some data by id', mimeType: 'application/json' },
    async (uri, { id }) => {
      const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` })
      return { contents: [{ uri: uri.href, mimeType: 'application/json', text }] }
    },
  )
}

export function addFixturePrompts(server: McpServer): void {
  const user = (text: string) => ({ role: 'user' as const, content: { type: 'text' as const, text } })
  server.registerPrompt('test_simple_prompt', { description: 'Says one thing' }, async () => ({
    messages: [user('This is a simple prompt for testing.')],
  }))
  const word = (about: string) =>
    completable(z.string().describe(about), (value) =>
      ['paris', 'park', 'party'].filter((one) => one.startsWith(value)),
    )
  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'Says what it is given',
      argsSchema: z.object({ arg1: word('First test argument'), arg2: word('Second test argument') }),
    },
    async ({ arg1, arg2 }) => ({ messages: [user(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  )
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'Has a resource in it', argsSchema: z.object({ resourceUri: z.string() }) },
    async ({ resourceUri: uri }) => ({
      messages: [
        {
          role: 'user',
          content: {
            type: 'resource',
            resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
          },
        },
        user('Please process the embedded resource above.'),
      ],
    }),
  )
  server.registerPrompt('test_prompt_with_image', { description: 'Has an image in it' }, async () => ({
    messages: [
      { role: 'user', content: { type: 'image', data: PIXEL, mimeType: 'image/png' } },
      user('Please analyze the image above.'),
    ],
  }))
}
