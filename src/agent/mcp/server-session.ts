import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../core/json/json.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { Owner, ProcessRecord } from '../../core/process/record.ts'
import type { McpServerSpec, SecretOrText } from '../../core/process/spec.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import type { OutputPart } from '../tools/agent-tool.ts'
import { callTool, isStopped } from './call-tool.ts'
import { type Connected, connectHttp, connectKept, unavailable } from './connect.ts'
import type { ConnectionEvents } from './connection.ts'
import { type Asker, elicit } from './elicitation.ts'
import { keptExchange, requestId } from './kept-exchange.ts'
import { McpFailure } from './mcp-failure.ts'
import { LIST_CHANGED } from './negotiate.ts'
import { getPrompt, listPrompts, type PromptDefinition, type PromptRequest } from './prompts.ts'
import { paramsIn } from './protocol.ts'
import type { ToolDefinition } from './tool-definition.ts'
import { type ListedTools, listTools } from './tool-list.ts'
import { ToolTrust } from './tool-trust.ts'

export interface ServerParts {
  readonly agent: ProcessRecord
  readonly name: string
  readonly spec: McpServerSpec
  readonly owner: Owner | undefined
  /** Acts as the agent. */
  readonly verbs: ReeveVerbs
  readonly secrets: (values: Readonly<Record<string, SecretOrText>>) => Readonly<Record<string, string>>
  readonly alert: (code: McpAlertCode, message: string, key: string) => void
}

export type McpAlertCode =
  | 'mcp_server_unavailable'
  | 'mcp_server_ended'
  | 'mcp_output_unusable'
  | 'mcp_tools_omitted'
  | 'mcp_tool_changed'

/** The call of an agent. */
interface CallContext {
  readonly pid: Pid
  readonly abortSignal: AbortSignal
}

const DEFAULT_CALL_MS = 300_000
const LIST_MS = 30_000
const RESTART_MS = { base: 1_000, max: 60_000 }

/** One server of one agent: connected when it is needed, and again after it ended. */
export class ServerSession {
  readonly #parts: ServerParts
  readonly #trust: ToolTrust
  readonly #closed = new AbortController()
  #connecting: Promise<Connected> | undefined
  #listing: Promise<readonly ToolDefinition[]> | undefined
  #listed: ListedTools | undefined
  #isStale = false
  #trusted: ReadonlyMap<string, string> = new Map()
  #hasDrifted = false
  #isGarbageTold = false
  /** Ends and failed starts since the last answered call. */
  #failures = 0
  #retryAt = 0
  /** The error for callers until the next start. */
  #lastFailure: unknown

  constructor(parts: ServerParts) {
    this.#parts = parts
    const { verbs, agent, owner, name } = parts
    this.#trust = new ToolTrust({ verbs, agent: agent.pid, owner, server: name })
  }

  /** The tools that the agent may call now. */
  tools(): Promise<readonly ToolDefinition[]> {
    this.#listing ??= this.#list()
      .catch((error: unknown) => {
        // The server ended meanwhile: the next one is asked.
        if (error instanceof McpFailure && error.code === 'interrupted') return this.#list()
        throw error
      })
      .finally(() => {
        this.#listing = undefined
      })
    return this.#listing
  }

  /** Calls a tool as it was when it was offered. The result is that of the protocol. */
  async call(tool: ToolDefinition, input: JsonObject, context: CallContext): Promise<JsonObject> {
    const result = await this.#call(tool, input, context).catch((error: unknown) => {
      if (!(error instanceof McpFailure) || error.code !== 'expired') throw error
      this.#connecting = undefined
      this.#listed = undefined
      return this.#call(tool, input, context)
    })
    this.#failures = 0
    return result
  }

  async #call(
    tool: ToolDefinition,
    input: JsonObject,
    { pid, abortSignal }: CallContext,
  ): Promise<JsonObject> {
    const connected = await this.#connect()
    // A changed list is read before the call.
    if (this.#listed === undefined || this.#isStale) await this.tools()
    const { agent } = this.#parts
    return callTool(
      {
        asker: this.#asker,
        call: pid,
        signal: abortSignal,
        exchange: (round, params) => this.#exchange(connected, tool, { pid, round, params, abortSignal }),
        request: (method, params, signal) =>
          connected.connection.request(newId(agent.pid), method, paramsIn(connected.negotiated.era, params), {
            timeoutMs: this.#callMs,
            ...(signal === undefined ? {} : { signal }),
          }),
      },
      tool.name,
      input,
    )
  }

  /** The prompts of the server, which people use as slash commands. */
  async prompts(): Promise<readonly PromptDefinition[]> {
    const { connection, negotiated } = await this.#connect()
    return listPrompts(connection, negotiated, this.#promptRequest)
  }

  /** The content of a prompt with these arguments. */
  async prompt(prompt: PromptDefinition, text: string): Promise<readonly OutputPart[]> {
    const { connection, negotiated } = await this.#connect()
    return getPrompt(connection, negotiated, { prompt, text }, this.#promptRequest)
  }

  get #promptRequest(): PromptRequest {
    const { pid } = this.#parts.agent
    return { newId: () => newId(pid), timeoutMs: LIST_MS, signal: this.#closed.signal }
  }

  close(): void {
    this.#closed.abort()
    this.#connecting?.then(({ connection }) => connection.close()).catch(() => undefined)
  }

  get #callMs(): number {
    return this.#parts.spec.timeoutMs ?? DEFAULT_CALL_MS
  }

  get #asker(): Asker {
    const { verbs, agent, owner, name } = this.#parts
    return { verbs, agent: agent.pid, owner, server: name }
  }

  async #exchange(
    connected: Connected,
    tool: ToolDefinition,
    asked: CallContext & { readonly round: number; readonly params: JsonObject },
  ): Promise<JsonObject> {
    const { connection, negotiated, kept } = connected
    const { pid: call, round, abortSignal: signal } = asked
    const params = paramsIn(negotiated.era, asked.params)
    const refuse = () => this.#refuseChanged(tool)
    const timeoutMs = this.#callMs
    try {
      if (kept !== undefined) {
        const { name, verbs } = this.#parts
        return await keptExchange(
          { name, verbs, channel: kept, connection },
          { call, round, params, isReadOnly: tool.isReadOnly, signal, timeoutMs, refuse },
        )
      }
      if (round === 0) refuse()
      return await connection.request(requestId({ call, round }), 'tools/call', params, { signal, timeoutMs })
    } catch (error) {
      const isGivenUp = isStopped(signal) || (error instanceof McpFailure && error.code === 'timed_out')
      // Over HTTP the newer revision cancels by the end of the exchange.
      if (isGivenUp && (kept !== undefined || negotiated.era === 'legacy'))
        await connection
          .notify('notifications/cancelled', { requestId: requestId({ call, round }), reason: 'given up' })
          .catch(() => undefined)
      throw error
    }
  }

  #refuseChanged({ name, hash }: ToolDefinition): void {
    const trusted = this.#trusted.get(name)
    if (trusted === hash) return
    throw new McpFailure(
      'changed',
      trusted === undefined
        ? `The MCP server ${this.#parts.name} does not offer ${name} any more, or a person has to accept its change.`
        : `The tool ${name} of the MCP server ${this.#parts.name} has changed. Read its description again before you call it.`,
    )
  }

  async #list(): Promise<readonly ToolDefinition[]> {
    const { agent, alert, name } = this.#parts
    const { connection, negotiated } = await this.#connect()
    const isListed = this.#listed !== undefined && !this.#isStale
    if (!isListed) {
      // A change that is told from now on makes the new list stale, too.
      this.#isStale = false
      this.#listed = await listTools(connection, negotiated, {
        newId: () => newId(agent.pid),
        timeoutMs: LIST_MS,
        signal: this.#closed.signal,
      })
    }
    const listed = this.#listed ?? { tools: [], omitted: 0 }
    if (isListed && !this.#hasDrifted) return listed.tools.filter(({ name: tool }) => this.#trusted.has(tool))
    const { trusted, drifted } = await this.#trust.judge(listed.tools)
    this.#trusted = new Map(trusted.map((tool) => [tool.name, tool.hash]))
    this.#hasDrifted = drifted.length > 0
    for (const tool of drifted)
      alert(
        'mcp_tool_changed',
        `The tool ${tool.name} of the MCP server ${name} has changed. It is not offered until a person accepts the change.`,
        `${tool.name}:${tool.hash}`,
      )
    if (listed.omitted > 0)
      alert(
        'mcp_tools_omitted',
        `${listed.omitted} tools of the MCP server ${name} are left out: unusable, doubled, or too many.`,
        String(listed.omitted),
      )
    return trusted
  }

  #connect(): Promise<Connected> {
    if (this.#connecting !== undefined) return this.#connecting
    if (Date.now() < this.#retryAt) return Promise.reject(this.#lastFailure)
    const connecting = this.#connectNow()
    this.#connecting = connecting
    connecting.catch((error: unknown) => {
      if (this.#connecting === connecting) this.#failed(error)
    })
    return connecting
  }

  async #connectNow(): Promise<Connected> {
    const { spec, ...parts } = this.#parts
    const opening = { ...parts, events: this.#events(), signal: this.#closed.signal }
    try {
      return await (spec.type === 'http'
        ? connectHttp({ ...opening, spec })
        : connectKept({ ...opening, spec }))
    } catch (error) {
      throw unavailable(error, parts.name)
    }
  }

  /** After the first failure it is started again at once. */
  #failed(why: unknown): void {
    this.#lastFailure = why
    this.#connecting = undefined
    this.#listed = undefined
    this.#failures += 1
    const delay = this.#failures === 1 ? 0 : RESTART_MS.base * 2 ** Math.min(this.#failures, 10)
    this.#retryAt = Date.now() + Math.min(delay, RESTART_MS.max)
  }

  #events(): ConnectionEvents {
    const { alert, name } = this.#parts
    return {
      notified: (method) => {
        if (method === LIST_CHANGED) this.#isStale = true
      },
      answer: (id, method, params, server) =>
        method === 'elicitation/create'
          ? elicit(this.#asker, params, `mcp:${server}:${id}`, this.#closed.signal)
          : undefined,
      garbage: (text) => {
        if (this.#isGarbageTold) return
        this.#isGarbageTold = true
        alert(
          'mcp_output_unusable',
          `The MCP server ${name} printed a line that is no message: ${text}`,
          name,
        )
      },
      ended: (why) => {
        if (this.#closed.signal.aborted) return
        const message = `The MCP server ${name} is gone: ${why}.`
        alert('mcp_server_ended', message, randomUUID())
        this.#failed(new McpFailure('unavailable', message))
      },
    }
  }
}

function newId(agent: Pid): string {
  return `${agent}:${randomUUID()}`
}
