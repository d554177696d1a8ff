import {
  INTERNAL_ERROR,
  type InputRequiredResult,
  type McpServer,
  ProtocolError,
  type ReadResourceResult,
  ResourceNotFoundError,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { ReeveError } from '../core/errors.ts'
import type { ReeveVerbs } from '../verbs/reeve.ts'
import type { Operator } from './approvals/operator.ts'
import { queueOf } from './approvals/queue.ts'
import { identityOf, type McpClient } from './client.ts'
import { endOfOutput } from './end-of-output.ts'
import { InputRequired } from './input-required.ts'
import { newestNotices } from './newest-notices.ts'
import { describeProcess } from './process-sentences.ts'
import { structuredView, viewOf } from './process-view.ts'
import { resourceSubscriptions } from './resource-subscriptions.ts'
import * as uris from './resource-uris.ts'
import { accessOf } from './resource-watch.ts'

const JSON_TYPE = 'application/json'
const MAX_PROCESSES = 1_000
const MAX_NOTICES = 100
const LOG_LINES = 1_000
const LOG_CHARS = 200_000

/** Processes, their logs and the inbox, for clients that show resources or pass them to a model. */
export function registerResources(server: McpServer, client: McpClient): void {
  const sessionOf = async (ctx: ServerContext) => {
    const { session } = await client.workspace(identityOf(server, ctx))
    return { acting: await session.acting(), session: session.id }
  }
  const read = (
    mimeType: string,
    text: (acting: ReeveVerbs, uri: string, session: string) => Promise<string>,
  ) => {
    return async (uri: URL, ctx: ServerContext): Promise<ReadResourceResult | InputRequiredResult> => {
      try {
        const { acting, session } = await sessionOf(ctx)
        const contents = { uri: uri.href, mimeType, text: await text(acting, uri.href, session) }
        return { contents: [contents] }
      } catch (error) {
        // The client answers with its roots and reads again.
        if (error instanceof InputRequired) return error.question
        return asProtocolError(uri)(error)
      }
    }
  }
  const template = (pattern: string, uriOf: (pid: string) => string) =>
    new ResourceTemplate(pattern, {
      list: async (ctx) => {
        const acting = await sessionOf(ctx).then(({ acting: found }) => found, withoutFolder)
        if (acting === null) return { resources: [] }
        const { processes } = await acting.list({ limit: MAX_PROCESSES })
        const resources = processes.map(({ record }) => ({
          uri: uriOf(record.pid),
          name: record.name ?? record.pid,
          description: describeProcess(viewOf(record)),
        }))
        return { resources }
      },
    })

  server.registerResource(
    'processes',
    uris.processesUri,
    { title: 'Processes', description: 'Your processes that have not ended', mimeType: JSON_TYPE },
    read(JSON_TYPE, async (acting) => {
      const { processes } = await acting.list({ limit: MAX_PROCESSES })
      return json(processes.map(({ record }) => structuredView(viewOf(record))))
    }),
  )
  server.registerResource(
    'inbox',
    uris.inboxUri,
    { title: 'Inbox', description: 'Notices of your session, the newest last', mimeType: JSON_TYPE },
    read(JSON_TYPE, async (acting, _, session) => json(await newestNotices(acting, session, MAX_NOTICES))),
  )
  const aboutProcess = read(JSON_TYPE, async (acting, uri) => json(await acting.show({ pid: pidIn(uri) })))
  server.registerResource(
    'process',
    template(uris.processTemplate, uris.processUri),
    { title: 'Process', description: 'The whole record of one process', mimeType: JSON_TYPE },
    (uri, _, ctx) => aboutProcess(uri, ctx),
  )
  const log = read('text/plain', async (acting, uri) => {
    const text = await endOfOutput(acting, pidIn(uri), { chars: LOG_CHARS, lines: LOG_LINES })
    return text.replace(/\n$/, '')
  })
  server.registerResource(
    'log',
    template(uris.logTemplate, uris.logUri),
    {
      title: 'Output',
      description: `The last ${LOG_LINES} lines of a process's output, at most ${LOG_CHARS} characters`,
      mimeType: 'text/plain',
    },
    (uri, _, ctx) => log(uri, ctx),
  )
  if (client.operator !== undefined) registerQueue(server, client.operator)
  if (client.era === 'legacy') {
    resourceSubscriptions(
      server,
      async (ctx) => {
        const { session } = await client.workspace(identityOf(server, ctx))
        return () => accessOf(session)
      },
      client.operator,
    )
  }
}

const MAX_APPROVALS = 200

/** The approvals that wait for the person of an operator's client. */
function registerQueue(server: McpServer, operator: Operator): void {
  server.registerResource(
    'approvals',
    uris.approvalsUri,
    {
      title: 'Approvals',
      description: 'What agents ask you for, the most urgent first',
      mimeType: JSON_TYPE,
    },
    async (uri) => {
      const { approvals } = await queueOf(operator, MAX_APPROVALS).catch(asProtocolError(uri))
      return { contents: [{ uri: uri.href, mimeType: JSON_TYPE, text: json(approvals) }] }
    },
  )
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

function pidIn(uri: string): string {
  const ref = uris.resourceRef(uri)
  if (ref === null || !('pid' in ref)) throw new ResourceNotFoundError(uri)
  return ref.pid
}

const UNKNOWN: readonly string[] = [
  'unknown_pid',
  'ambiguous_pid',
  'pruned_pid',
  'denied',
  'not_command',
  'no_output',
]

/** A list cannot be answered with a question, so a client without a known folder gets an empty list. */
function withoutFolder(error: unknown): null {
  if (error instanceof ReeveError && error.code === 'folder_unknown') return null
  throw error
}

/** Resources have no error results: a process that the session may not see does not exist. */
function asProtocolError(uri: URL): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof ReeveError)) throw error
    if (UNKNOWN.includes(error.code)) throw new ResourceNotFoundError(uri.href, error.message)
    throw new ProtocolError(INTERNAL_ERROR, `${error.message} ${error.remedy}`, { code: error.code })
  }
}
