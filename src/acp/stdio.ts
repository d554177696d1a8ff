import { Readable, Writable } from 'node:stream'
import { type AgentApp, agent, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk'
import type { Reeve } from '../verbs/reeve.ts'
import { type AcpOptions, OpenSessions } from './open-sessions.ts'
import { answering } from './request-errors.ts'
import { listSessions } from './session-list.ts'

export interface AcpStdio {
  readonly input: Readable
  /** Carries the protocol and nothing else. */
  readonly output: Writable
  /** The version of Reeve. */
  readonly version: string
}

/** Serves one editor over standard input and output. Resolves when it has disconnected; its agents go on. */
export async function serveAcpStdio(
  reeve: Reeve,
  options: AcpOptions,
  { input, output, version }: AcpStdio,
): Promise<void> {
  const stream = ndJsonStream(Writable.toWeb(output), Readable.toWeb(input))
  const opened = Promise.withResolvers<OpenSessions>()
  const app = acpAgent(reeve, version, opened.promise)
  const connection = app.connect(stream)
  const sessions = new OpenSessions(reeve, connection, options)
  opened.resolve(sessions)
  await connection.closed
  await sessions.disconnected()
}

/** The methods of the protocol. Each one calls Reeve, and passes on the answer. */
function acpAgent(reeve: Reeve, version: string, opened: Promise<OpenSessions>): AgentApp {
  const { session } = methods.agent
  const inSessions = <Answer>(act: (sessions: OpenSessions) => Promise<Answer>): Promise<Answer> =>
    answering(async () => act(await opened))
  return agent({ name: 'reeve' })
    .onNotification(session.cancel, ({ params }) =>
      inSessions(async (sessions) => sessions.get(params.sessionId).cancel()),
    )
    .onRequest(methods.agent.initialize, ({ params }) =>
      inSessions(async (sessions) => {
        sessions.initialized(params.clientCapabilities ?? {}, params.clientInfo?.name)
        return {
          protocolVersion: PROTOCOL_VERSION,
          agentInfo: { name: 'reeve', title: 'Reeve', version },
          authMethods: [],
          agentCapabilities: {
            loadSession: true,
            promptCapabilities: { image: true, embeddedContext: true },
            mcpCapabilities: { http: true },
            sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
          },
        }
      }),
    )
    .onRequest(session.new, ({ params }) =>
      inSessions((sessions) => sessions.begin(params.cwd, params.mcpServers)),
    )
    .onRequest(session.load, ({ params }) =>
      inSessions((sessions) => sessions.reopen(params.sessionId, true)),
    )
    .onRequest(session.resume, ({ params }) =>
      inSessions((sessions) => sessions.reopen(params.sessionId, false)),
    )
    .onRequest(session.list, ({ params }) => answering(() => listSessions(reeve, params)))
    .onRequest(session.close, ({ params }) => inSessions((sessions) => sessions.close(params.sessionId)))
    .onRequest(session.delete, ({ params }) => inSessions((sessions) => sessions.delete(params.sessionId)))
    .onRequest(session.setMode, ({ params }) =>
      inSessions((sessions) => sessions.setMode(params.sessionId, params.modeId)),
    )
    .onRequest(session.setConfigOption, ({ params }) =>
      inSessions(async (sessions) => ({
        configOptions: await sessions.setOption(params.sessionId, params.configId, params.value),
      })),
    )
    .onRequest(session.prompt, ({ params, signal }) =>
      inSessions(async (sessions) => {
        const asked = sessions.get(params.sessionId)
        // A turn goes on without its editor.
        const cancel = () => {
          if (sessions.isConnected) void asked.cancel().catch(() => {})
        }
        signal.addEventListener('abort', cancel, { once: true })
        try {
          return { stopReason: await asked.prompt(params.prompt) }
        } finally {
          signal.removeEventListener('abort', cancel)
        }
      }),
    )
}
