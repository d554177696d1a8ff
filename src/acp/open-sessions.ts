import { randomUUID } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import {
  type AgentConnection,
  type ClientCapabilities,
  type McpServer,
  methods,
  RequestError,
  type SessionConfigOption,
  type SessionModeState,
} from '@agentclientprotocol/sdk'
import { throughClient } from '../client/connect.ts'
import type { OutputOf, Reeve } from '../verbs/reeve.ts'
import { pid as wholePid } from '../verbs/shapes/scalars.ts'
import { COMMANDS } from './commands.ts'
import { mcpServersOf } from './editor-mcp-servers.ts'
import { HOME_RULES, modelOption, modeNamed, modeOf, modeOption, modeState } from './modes.ts'
import { Permissions, type PersonHere } from './permissions.ts'
import { isReeveCode } from './request-errors.ts'
import { AcpSession } from './session.ts'

export interface AcpOptions {
  /** The models that the editor offers; agents begin with the first one. */
  readonly models: readonly [string, ...string[]]
  /** The preset that a session begins with. */
  readonly preset?: string
  /** The system prompt of its agents, instead of the built-in one. */
  readonly system?: string
}

/** A session as the answers of `new`, `load` and `resume` describe it. */
interface Opened {
  readonly modes?: SessionModeState
  readonly configOptions: SessionConfigOption[]
}

interface Entry {
  readonly session: AcpSession
  /** The session of Reeve whose preset is the mode; null if the agent was not started by an editor. */
  readonly owner: string | null
  mode: string | null
  model: string
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null)
  return found?.isDirectory() === true
}

/** Sessions of Reeve that editors open for their agents begin with this. */
const OWNER_PREFIX = 'acp:'

/** The sessions that one editor has open. */
export class OpenSessions {
  readonly #reeve: Reeve
  readonly #connection: Pick<AgentConnection, 'client' | 'signal'>
  readonly #options: AcpOptions
  readonly #entries = new Map<string, Entry>()
  #capabilities: ClientCapabilities = {}
  #clientName = 'an editor'

  constructor(reeve: Reeve, connection: Pick<AgentConnection, 'client' | 'signal'>, options: AcpOptions) {
    this.#reeve = reeve
    this.#connection = connection
    this.#options = options
  }

  initialized(capabilities: ClientCapabilities, clientName: string | undefined): void {
    this.#capabilities = capabilities
    this.#clientName = clientName ?? this.#clientName
  }

  /** False when the editor is gone. */
  get isConnected(): boolean {
    return !this.#connection.signal.aborted
  }

  get(sessionId: string): AcpSession {
    return this.#entry(sessionId).session
  }

  /** Starts an agent, in a session of Reeve whose rules are the mode. */
  async begin(
    cwd: string,
    mcpServers: readonly McpServer[],
  ): Promise<Opened & { readonly sessionId: string }> {
    if (!isAbsolute(cwd)) throw RequestError.invalidParams({ cwd }, `cwd must be absolute, and ${cwd} is not`)
    if (!(await isFolder(cwd))) throw RequestError.invalidParams({ cwd }, `There is no folder ${cwd}`)
    const { models, preset, system } = this.#options
    const servers = mcpServersOf(mcpServers)
    const owner = `${OWNER_PREFIX}${randomUUID()}`
    const label = `agent of ${this.#clientName}`.slice(0, MAX_LABEL_CHARS)
    await this.#reeve.openSession({
      session: owner,
      label,
      workspace: cwd,
      ...(preset === undefined ? {} : { preset }),
    })
    try {
      const { record } = await this.#reeve.spawn({
        kind: 'agent',
        cwd,
        label,
        owner: { session: owner },
        spec: {
          agent: 'editor',
          model: models[0],
          ...(system === undefined ? {} : { system }),
          ...(Object.keys(servers).length === 0 ? {} : { mcpServers: servers }),
        },
      })
      const opened = await this.#open(record.pid, (session) => session.resume())
      return { sessionId: record.pid, ...opened }
    } catch (error) {
      await this.#reeve.endSession({ session: owner }).catch(() => {})
      throw error
    }
  }

  /** Opens an agent that is there already. With `replays` its past is sent first. */
  async reopen(sessionId: string, replays: boolean): Promise<Opened> {
    const known = this.#entries.get(sessionId)
    if (known?.session.isBusy === true)
      throw RequestError.invalidRequest({ sessionId }, 'The last prompt of this session is not answered yet')
    known?.session.close()
    return this.#open(sessionId, (session) => (replays ? session.replay() : session.resume()))
  }

  /** The turn is cancelled; the agent stays, and can be opened again. */
  async close(sessionId: string): Promise<void> {
    const entry = this.#entries.get(sessionId)
    if (entry === undefined) return
    await entry.session.cancel()
    entry.session.close()
    this.#entries.delete(sessionId)
  }

  /** The agent ends. Its log stays until it is pruned. */
  async delete(sessionId: string): Promise<void> {
    const agent = await this.#find(sessionId)
    this.#entries.get(sessionId)?.session.close()
    this.#entries.delete(sessionId)
    if (agent !== null) await this.#end(agent.pid, ownerOf(agent))
  }

  async setMode(sessionId: string, name: string): Promise<void> {
    const entry = this.#entry(sessionId)
    const mode = modeNamed(name)
    const { owner } = entry
    if (owner === null || entry.mode === null) throw noModes(sessionId)
    if ((await this.#person()) === null) throw nobodyHere()
    const preset = mode === HOME_RULES ? null : mode
    await this.#reeve.setPreset({ to: { type: 'session', session: owner }, preset })
    entry.mode = mode
    await entry.session.send({ sessionUpdate: 'current_mode_update', currentModeId: mode })
    await entry.session.send({ sessionUpdate: 'config_option_update', configOptions: this.#optionsOf(entry) })
  }

  async setOption(sessionId: string, option: string, value: unknown): Promise<SessionConfigOption[]> {
    const entry = this.#entry(sessionId)
    if (typeof value !== 'string' || (option !== 'mode' && option !== 'model'))
      throw RequestError.invalidParams({ configId: option }, 'There are the options mode and model')
    if (option === 'mode') await this.setMode(sessionId, value)
    else {
      await this.#reeve.configureAgent({ pid: sessionId, model: value })
      entry.model = value
      await entry.session.modelChanged()
    }
    return this.#optionsOf(entry)
  }

  /** The editor is gone. Agents go on; those that were never asked for anything end. */
  async disconnected(): Promise<void> {
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    for (const { session } of entries) session.close()
    const unused = entries.filter(({ session }) => !session.wasUsed)
    await Promise.allSettled(unused.map(({ session, owner }) => this.#end(session.pid, owner)))
  }

  async #open(sessionId: string, begin: (session: AcpSession) => Promise<unknown>): Promise<Opened> {
    const agent = await this.#find(sessionId)
    if (agent === null) throw RequestError.sessionNotFound(sessionId)
    const session = new AcpSession({
      reeve: this.#reeve,
      agent,
      showsNotices: this.#capabilities.session?.notices != null,
      send: (update) => this.#connection.client.notify(methods.client.session.update, { sessionId, update }),
    })
    const owner = ownerOf(agent)
    const mode = owner === null ? null : await this.#modeOf(owner)
    const { record, position } = await this.#reeve.agentLog({ pid: sessionId, last: 1 })
    const entry: Entry = { session, owner, mode, model: agent.model }
    this.#entries.set(sessionId, entry)
    await begin(session)
    void this.#askThrough(session, record.root, position)
    void session.send({ sessionUpdate: 'available_commands_update', availableCommands: [...COMMANDS] })
    const configOptions = this.#optionsOf(entry)
    return mode === null ? { configOptions } : { modes: modeState(mode), configOptions }
  }

  async #askThrough(session: AcpSession, root: string, position: number): Promise<void> {
    const person = await this.#person()
    const permissions = new Permissions({
      reeve: this.#reeve,
      session,
      person,
      ask: (request, signal) =>
        this.#connection.client.request(methods.client.session.requestPermission, request, {
          cancellationSignal: signal,
          stopWaitingOnCancel: true,
        }),
    })
    await permissions.follow(root, position)
  }

  /** The person at the editor, if this home says that a person sits there. The daemon limits how far the answers reach. */
  async #person(): Promise<PersonHere | null> {
    const { actor, person, approver } = await this.#reeve.whoami()
    if (!approver || person === null || actor !== 'host') return null
    return { name: person, answering: throughClient(this.#reeve, { sessions: [], elicited: true }) }
  }

  /** Null if this caller may not see rules, or no person may change them here. */
  async #modeOf(owner: string): Promise<string | null> {
    try {
      if ((await this.#person()) === null) return null
      return modeOf(owner, await this.#reeve.policies())
    } catch (error) {
      if (isReeveCode(error, 'denied')) return null
      throw error
    }
  }

  /** A live agent that Reeve drives, by its whole pid. */
  async #find(sessionId: string): Promise<OutputOf<'inspectAgent'> | null> {
    if (!wholePid.safeParse(sessionId).success) return null
    try {
      const agent = await this.#reeve.inspectAgent({ pid: sessionId })
      return agent.phase === 'ended' ? null : agent
    } catch (error) {
      if (isReeveCode(error, 'unknown_pid', 'invalid_request')) return null
      throw error
    }
  }

  async #end(pid: string, owner: string | null): Promise<void> {
    if (owner !== null) await this.#reeve.endSession({ session: owner })
    else await this.#reeve.shutDownAgent({ pid })
  }

  #entry(sessionId: string): Entry {
    const entry = this.#entries.get(sessionId)
    if (entry === undefined) throw RequestError.sessionNotFound(sessionId)
    return entry
  }

  #optionsOf({ mode, model }: Entry): SessionConfigOption[] {
    return [...(mode === null ? [] : [modeOption(mode)]), modelOption(model, this.#options.models)]
  }
}

const MAX_LABEL_CHARS = 200

function ownerOf({ session }: OutputOf<'inspectAgent'>): string | null {
  return session?.startsWith(OWNER_PREFIX) === true ? session : null
}

function noModes(sessionId: string): RequestError {
  return RequestError.invalidParams(
    { sessionId },
    'This session has no modes: change its rules with reeve policy',
  )
}

function nobodyHere(): RequestError {
  return RequestError.invalidRequest(
    undefined,
    'No person is known to sit at this editor: set "approver": true in reeve.json, or use reeve policy preset',
  )
}
