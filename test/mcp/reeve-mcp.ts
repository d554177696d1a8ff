import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { inject } from 'vitest'
import { endForCertain } from '../command/os-processes.ts'
import type { TempReeve } from '../temp-reeve.ts'
import { type Answering, clientOf, type Era } from './connected.ts'

const REEVE = join(inject('builtReeve'), 'dist/main.js')

interface Starting {
  readonly era: Era
  readonly cwd: string
  readonly name?: string
  /** Answers the forms that are shown to the user of the client. */
  readonly person?: Answering
  readonly env?: Readonly<Record<string, string>>
  /** The arguments after `mcp` on its command line. */
  readonly options?: readonly string[]
}

/** A client that starts `reeve mcp` as agents do. */
export async function reeveMcp(
  temp: TempReeve,
  { era, cwd, name = 'tester', person, env: more = {}, options = [] }: Starting,
): Promise<Client> {
  const client = clientOf({ era, name, ...(person === undefined ? {} : { person }) })
  const here = process.env as Record<string, string>
  const env = { ...here, ...temp.env, REEVE_LISTEN: '127.0.0.1:0', ...more }
  const args = [REEVE, 'mcp', ...options]
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env, cwd, stderr: 'inherit' }),
  )
  return client
}

/** Kills the daemon with SIGKILL; resolves when it is gone. */
export async function killDaemon(temp: TempReeve): Promise<void> {
  const daemon = temp.announced()
  if (daemon === null || typeof daemon.startTime !== 'string')
    throw new Error('No daemon has announced itself.')
  await endForCertain({ osPid: daemon.osPid, startTime: daemon.startTime })
}
