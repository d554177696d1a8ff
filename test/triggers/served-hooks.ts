import { createHmac, randomUUID } from 'node:crypto'
import { type Embedded, embed, type Json } from 'reeve'
import { onTestFinished } from 'vitest'
import { serve } from '../../src/server/server.ts'
import { quiet } from '../temp-reeve.ts'

export interface Answered {
  readonly status: number
  readonly body: { readonly [member: string]: unknown }
}

/** A Reeve with a server on loopback, whose tool `note` counts its runs by input. */
export interface ServedHooks {
  readonly reeve: Embedded
  readonly url: string
  /** The inputs of the runs so far. */
  readonly ran: readonly string[]
}

export async function serveHooks(store: string, ran: string[] = []): Promise<ServedHooks> {
  const reeve = await embed({
    store,
    tools: {
      note: ({ input }) => {
        ran.push(JSON.stringify(input))
        return null
      },
    },
  })
  const server = await serve({
    reeve,
    listen: { host: '127.0.0.1', port: 0 },
    tokens: { all: () => [] },
    version: '0',
    log: quiet,
  })
  onTestFinished(async () => {
    await server.close()
    await reeve.close()
  })
  return { reeve, url: server.url ?? '', ran }
}

/** Signs a request as the specification Standard Webhooks says, independently of Reeve's code. */
export function signedHeaders(
  secret: string,
  body: string,
  { id = randomUUID(), timestamp = Math.floor(Date.now() / 1_000) }: { id?: string; timestamp?: number } = {},
): Record<string, string> {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  }
}

export async function post(
  url: string,
  hook: string,
  headers: Record<string, string>,
  body: string,
): Promise<Answered> {
  const response = await fetch(`${url}/hooks/${hook}`, { method: 'POST', headers, body })
  return { status: response.status, body: (await response.json()) as Answered['body'] }
}

export async function deliver(
  url: string,
  hook: string,
  secret: string,
  { id, ...body }: { readonly id: string; readonly [member: string]: Json },
): Promise<Answered> {
  const text = JSON.stringify(body)
  return post(url, hook, signedHeaders(secret, text, { id }), text)
}

export const NOTE = { kind: 'tool', spec: { tool: 'note' } } as const
