import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import * as acp from '@agentclientprotocol/sdk'
import { inject, onTestFinished } from 'vitest'
import { tempFolder } from '../temp-folder.ts'
import type { TempReeve } from '../temp-reeve.ts'

const REEVE = join(inject('builtReeve'), 'dist/main.js')

type Answering = (
  request: acp.RequestPermissionRequest,
  signal: AbortSignal,
) => Promise<acp.RequestPermissionResponse>

interface Starting {
  readonly cwd: string
  /** The arguments after `acp` on its command line. */
  readonly options?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Answers the questions that the editor shows. */
  readonly person?: Answering
  readonly capabilities?: acp.ClientCapabilities
}

/** An editor that drives `reeve acp` with the client of the SDK, as Zed does. */
export class Editor {
  readonly child: ChildProcess
  readonly connection: acp.ClientConnection
  readonly updates: acp.SessionUpdate[] = []
  readonly asked: acp.RequestPermissionRequest[] = []
  stderr = ''
  #heard = Promise.withResolvers<void>()

  constructor(temp: TempReeve, { cwd, options = [], env = {}, person = never }: Starting) {
    const { REEVE_PROCESS: _, ...here } = process.env as Record<string, string>
    const child = spawn(process.execPath, [REEVE, 'acp', '--model', 'scripted/script.json', ...options], {
      cwd,
      env: { ...here, ...temp.env, REEVE_LISTEN: 'off', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    child.stderr.on('data', (piece: Buffer) => {
      this.stderr += piece.toString()
    })
    this.child = child
    const stream = acp.ndJsonStream(
      Writable.toWeb(child.stdin),
      Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
    )
    this.connection = acp
      .client({ name: 'editor' })
      .onNotification(acp.methods.client.session.update, ({ params }) => {
        this.updates.push(params.update)
        this.#heard.resolve()
        this.#heard = Promise.withResolvers<void>()
      })
      .onRequest(acp.methods.client.session.requestPermission, ({ params, signal }) => {
        this.asked.push(params)
        return person(params, signal)
      })
      .connect(stream)
  }

  static async start(temp: TempReeve, starting: Starting): Promise<Editor> {
    const editor = new Editor(temp, starting)
    await editor.request(acp.methods.agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientInfo: { name: 'editor', version: '1' },
      clientCapabilities: starting.capabilities ?? {},
    })
    return editor
  }

  get request(): acp.ClientContext['request'] {
    return this.connection.agent.request.bind(this.connection.agent)
  }

  newSession(cwd: string, mcpServers: acp.McpServer[] = []): Promise<acp.NewSessionResponse> {
    return this.request(acp.methods.agent.session.new, { cwd, mcpServers })
  }

  prompt(sessionId: string, ...blocks: (string | acp.ContentBlock)[]): Promise<acp.PromptResponse> {
    const prompt = blocks.map((block) =>
      typeof block === 'string' ? { type: 'text' as const, text: block } : block,
    )
    return this.request(acp.methods.agent.session.prompt, { sessionId, prompt })
  }

  cancel(sessionId: string): Promise<void> {
    return this.connection.agent.notify(acp.methods.agent.session.cancel, { sessionId })
  }

  /** Resolves when an update fits. */
  async until(fits: (update: acp.SessionUpdate) => boolean): Promise<void> {
    while (!this.updates.some(fits)) await this.#heard.promise
  }

  /** The text of all messages or thoughts of the agent. */
  text(
    kind: 'agent_message_chunk' | 'agent_thought_chunk' | 'user_message_chunk' = 'agent_message_chunk',
  ): string {
    return this.updates
      .map((update) =>
        update.sessionUpdate === kind && update.content.type === 'text' ? update.content.text : '',
      )
      .join('')
  }

  of<Kind extends acp.SessionUpdate['sessionUpdate']>(
    kind: Kind,
  ): Extract<acp.SessionUpdate, { sessionUpdate: Kind }>[] {
    return this.updates.filter(
      (update): update is Extract<acp.SessionUpdate, { sessionUpdate: Kind }> =>
        update.sessionUpdate === kind,
    )
  }

  /** Closes its input, as an editor that quits; resolves with the exit code. */
  async quit(): Promise<number | null> {
    const exit = once(this.child, 'exit')
    this.child.stdin?.end()
    const [code] = await exit
    return code
  }
}

/** A folder with a script for the model. */
export function scriptedProject(script: object): string {
  const folder = tempFolder()
  writeFileSync(join(folder, 'script.json'), JSON.stringify(script))
  return folder
}

/** The answer of a person who chooses the option with this id. */
export function choosing(optionId: string): Answering {
  return async () => ({ outcome: { outcome: 'selected', optionId } })
}

async function never(): Promise<acp.RequestPermissionResponse> {
  throw new Error('The editor was asked, and nobody is there.')
}
