import * as z from 'zod'
import { SECRET_NAME } from '../../core/environment/secrets.ts'
import type { McpServerSpec } from '../../core/process/spec.ts'
import { commandSpec } from './command-spec.ts'
import { duration, folder } from './scalars.ts'
import { variableName, variableValue } from './variables.ts'

const { argv, run } = commandSpec.shape

const secretName = z
  .string()
  .refine((name) => SECRET_NAME.test(name.replace(/^env:/, '')), 'must be the name of a secret')

/** A value, or the name of a secret: its value is read when the server is used, and is never stored. */
export const secretOrText = z.union([
  variableValue,
  z.strictObject({ secret: secretName.describe('a secret of the home, or env:<variable>') }),
])

const timeoutMs = duration
  .min(1)
  .exactOptional()
  .describe('how long one call may take, in milliseconds; 300 s by default')

const started = z
  .strictObject({
    type: z.literal('command'),
    argv,
    run,
    env: z
      .record(variableName, secretOrText)
      .exactOptional()
      .describe('variables of its environment; values or references to secrets'),
    cwd: folder.exactOptional().describe('its working folder; that of the agent by default'),
    timeoutMs,
  })
  .refine((server) => (server.argv === undefined) !== (server.run === undefined), 'give either argv or run')

const reached = z.strictObject({
  type: z.literal('http'),
  url: z
    .string()
    .max(2_000)
    .regex(/^https?:\/\/[^\s]+$/, 'must be an http or https URL')
    .describe('its address'),
  headers: z
    .record(
      z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/, 'must be the name of an HTTP header'),
      secretOrText,
    )
    .exactOptional()
    .describe('headers of each request; values or references to secrets'),
  auth: z
    .discriminatedUnion('type', [
      z.strictObject({
        type: z.literal('bearer'),
        token: z
          .strictObject({ secret: secretName.describe('the name of the secret') })
          .describe('the secret with the token'),
      }),
      z.strictObject({
        type: z.literal('oauth'),
        issuer: z
          .string()
          .max(2_000)
          .regex(/^https?:\/\/[^\s]+$/, 'must be an http or https URL')
          .describe('the authorization server, which gets the secret; no other does'),
        clientId: z.string().min(1).max(1_000).describe('the name of the client at the authorization server'),
        clientSecret: z
          .strictObject({ secret: secretName.describe('the name of the secret') })
          .describe('the secret of the client'),
        scope: z.string().max(1_000).exactOptional().describe('the scopes to ask for, separated by spaces'),
      }),
    ])
    .exactOptional()
    .describe('how Reeve shows who it is: a token, or OAuth with client credentials'),
  timeoutMs,
})

const MAX_SERVERS = 32

/** The MCP servers of an agent, by name. */
export const mcpServers = z
  .record(
    z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/, 'must be letters, digits, - and _, at most 32'),
    z.discriminatedUnion('type', [started, reached]),
  )
  .refine(
    (servers) => Object.keys(servers).length <= MAX_SERVERS,
    `at most ${MAX_SERVERS} servers`,
  ) satisfies z.ZodType<Readonly<Record<string, McpServerSpec>>>
