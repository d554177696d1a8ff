import { Client, InMemoryTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Reeve } from 'reeve'
import { onTestFinished } from 'vitest'
import { type McpCaller, mcpHttpHandler } from '../../src/mcp/http.ts'
import { serveMcpStdio } from '../../src/mcp/stdio.ts'

export type Era = 'legacy' | 'modern'
export const ERAS: readonly Era[] = ['legacy', 'modern']

export interface Connecting {
  readonly era: Era
  readonly name?: string
  /** The working directory of the stdio server, or the folder in the URL. */
  readonly cwd?: string
  /** The client's root. */
  readonly root?: string
  /** The stdio server's connection for background work. */
  readonly quiet?: Reeve
  /** The client's declared capabilities. */
  readonly capabilities?: object
  /** Answers the forms that are shown to the user of the client. */
  readonly person?: Answering
  /** Every answer has structured content, too: `reeve mcp --structured`, or `/mcp?structured=1`. */
  readonly structured?: boolean
}

/** A form that is shown to the user of a client. */
export interface ShownForm {
  readonly message: string
  readonly requestedSchema: {
    readonly properties: Readonly<Record<string, { readonly enum?: readonly string[] }>>
  }
}
export type Answering = (
  form: ShownForm,
  signal: AbortSignal,
) => Promise<{ action: 'accept' | 'decline' | 'cancel'; content?: Record<string, string> }>

export function clientOf(connecting: Connecting): Client {
  const { era, name = 'tester', root, person, capabilities: more = {} } = connecting
  const versionNegotiation = { mode: era === 'legacy' ? 'legacy' : { pin: '2026-07-28' } } as const
  const capabilities = {
    ...(root === undefined ? {} : { roots: {} }),
    ...(person === undefined ? {} : { elicitation: { form: {} } }),
    ...more,
  }
  const client = new Client({ name, version: '1' }, { versionNegotiation, capabilities })
  if (root !== undefined) {
    client.setRequestHandler('roots/list', async () => ({ roots: [{ uri: `file://${root}`, name: 'work' }] }))
  }
  if (person !== undefined) {
    client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) =>
      person(params as unknown as ShownForm, mcpReq.signal),
    )
  }
  onTestFinished(() => client.close())
  return client
}

/** A client of the stdio server of `reeve mcp`, connected in memory. */
export async function overStdio(reeve: Reeve, connecting: Connecting): Promise<Client> {
  const [there, here] = InMemoryTransport.createLinkedPair()
  const cwd = connecting.cwd ?? process.cwd()
  const quiet = connecting.quiet === undefined ? {} : { quiet: connecting.quiet }
  const { structured = false } = connecting
  const served = serveMcpStdio(reeve, { transport: there, cwd, structured, onTrouble: () => {}, ...quiet })
  onTestFinished(() => served.close())
  const client = clientOf(connecting)
  await client.connect(here)
  return client
}

const ADMIN: McpCaller = { role: 'admin', actor: 'host', tokenId: 'tok-1' }

/** A client of the HTTP handler of a daemon, connected in memory. */
export async function overHttp(
  reeve: Reeve,
  { caller = ADMIN, ...connecting }: Connecting & { readonly caller?: McpCaller },
): Promise<Client> {
  const handler = mcpHttpHandler(reeve)
  onTestFinished(() => handler.close())
  const client = clientOf(connecting)
  const fetch = (url: string | URL | Request, init?: RequestInit) =>
    handler.fetch(new Request(url, init), caller)
  const url = new URL('http://127.0.0.1/mcp')
  if (connecting.root === undefined) url.searchParams.set('folder', connecting.cwd ?? process.cwd())
  if (connecting.structured === true) url.searchParams.set('structured', '1')
  await client.connect(new StreamableHTTPClientTransport(url, { fetch }))
  return client
}

export const WAYS = { stdio: overStdio, http: overHttp } as const

export interface Called<Structured> {
  readonly structured: Structured
  readonly text: string
  readonly isError: boolean
}

/** Requests structured content in one call. */
export const STRUCTURED = { 'reeve/structured': true } as const

/** Calls a tool as agents do; returns the text for the model. */
export async function textOf(
  client: Client,
  name: string,
  given: Record<string, unknown> = {},
  options: Parameters<Client['callTool']>[1] = {},
): Promise<string> {
  const result = await client.callTool({ name, arguments: given }, options)
  const [first] = result.content
  return first?.type === 'text' ? first.text : ''
}

/** Calls a tool; returns the structured content and the text. */
export async function call<Structured = Record<string, unknown>>(
  client: Client,
  name: string,
  given: Record<string, unknown> = {},
  options: Parameters<Client['callTool']>[1] = {},
): Promise<Called<Structured>> {
  const result = await client.callTool({ name, arguments: given, _meta: STRUCTURED }, options)
  const [first] = result.content
  const text = first?.type === 'text' ? first.text : ''
  return { structured: result.structuredContent as Structured, text, isError: result.isError === true }
}

/** The same Reeve, with a count of its pending waits. */
export function countWaits(reeve: Reeve) {
  const counted = {
    under: 0,
    reeve: {
      ...reeve,
      as(actor: Parameters<Reeve['as']>[0]) {
        const acting = reeve.as(actor)
        const wait: typeof acting.wait = async (input, options) => {
          counted.under++
          try {
            return await acting.wait(input, options)
          } finally {
            counted.under--
          }
        }
        return { ...acting, wait }
      },
    },
  }
  return counted
}

/** The same Reeve, whose waits time out at once; it records the timeout of each. */
export function recordWaits(reeve: Reeve) {
  const asked: number[] = []
  return {
    asked,
    reeve: {
      ...reeve,
      as(actor: Parameters<Reeve['as']>[0]) {
        const acting = reeve.as(actor)
        const wait: typeof acting.wait = (input, options) => {
          asked.push(input.timeoutMs ?? 0)
          return acting.wait({ ...input, timeoutMs: 0 }, options)
        }
        return { ...acting, wait }
      },
    },
  }
}
