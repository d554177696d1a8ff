import type { HookEnd, HookPlace } from '../../core/agent/hooks.ts'
import { leftFate, putBackFate } from '../../core/agent/put-back.ts'
import type { FileFate, FileUndo, PutBack } from '../../core/files/plan-undo.ts'
import { memoryOf } from '../../core/memory/memory-spec.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { Actor, ProcessRecord } from '../../core/process/record.ts'
import type { Executor, Work } from '../../kernel/executor.ts'
import type { SeenFile } from '../tools/files/file-tracker.ts'
import type { PutBackAnswer } from '../tools/files/put-back.ts'
import { AgentSessions } from './agent-sessions.ts'
import { BuiltInNames } from './built-in-names.ts'
import type { EndHooks } from './end-hooks.ts'
import { EndedAgents } from './ended-agents.ts'
import type { MemoryStore } from './memory-store.ts'
import type { PendingCall, Toolbox, ToolboxParts } from './toolbox.ts'
import type { ToolboxCore } from './toolbox-core.ts'

/** The tools of all native agents of a program. A program without agents does not load them. */
export class AgentToolbox implements Toolbox {
  /** Runs the built-in tools. It is one of the kernel's executors. */
  readonly executor: Executor
  readonly sessions: AgentSessions
  readonly #parts: ToolboxParts
  readonly #names = new BuiltInNames()
  #core: Promise<ToolboxCore> | undefined
  #endHooks: Promise<EndHooks> | undefined
  #ended: EndedAgents | undefined

  constructor(parts: ToolboxParts) {
    this.#parts = parts
    this.sessions = new AgentSessions(parts.kernel)
    const names = this.#names
    this.executor = {
      get serves() {
        return names.serves
      },
      run: async (work, kernel) => (await this.#load()).builtIn.run(work, kernel),
      effectsOf: async (record) => (await this.#load()).builtIn.effectsOf(record),
    }
  }

  /** The kernel runs: the sessions of agents end with their agents. */
  start(): void {
    this.#ended ??= new EndedAgents(
      this.#parts.kernel(),
      (pid) => this.sessions.isOpen(pid),
      (pid) => this.#agentEnded(pid),
    )
  }

  close(): void {
    this.#ended?.close()
  }

  async declarations(agent: ProcessRecord): ReturnType<Toolbox['declarations']> {
    return (await this.#load()).declarations(agent)
  }

  async run(work: Work, turn: number, calls: readonly PendingCall[], signal: AbortSignal): Promise<void> {
    return (await this.#load()).run(work, turn, calls, signal)
  }

  async hooks(work: Work, at: HookPlace, signal: AbortSignal): Promise<readonly HookEnd[]> {
    return (await this.#load()).hooks(work, at, signal)
  }

  /** Starts the hooks of ends. False: another program has to. */
  async startEndHooks(agent: ProcessRecord, from: number): Promise<boolean> {
    this.#endHooks ??= import('./end-hooks.ts').then(
      (loaded) => new loaded.EndHooks(this.#parts, this.sessions),
    )
    return (await this.#endHooks).start(agent, from)
  }

  async skills(agent: ProcessRecord): ReturnType<Toolbox['skills']> {
    return (await this.#load()).skills(agent)
  }

  async skillTexts(agent: ProcessRecord, names: readonly string[]): ReturnType<Toolbox['skillTexts']> {
    return (await this.#load()).skillTexts(agent, names)
  }

  async memory(agent: ProcessRecord): Promise<MemoryStore | null> {
    return memoryOf(agent) === null ? null : (await this.#load()).memory(agent)
  }

  async putBack(agent: ProcessRecord, undo: PutBack, asker: Actor): Promise<PutBackAnswer> {
    return (await this.#load()).putBack(agent, undo, asker)
  }

  /** What would become of these files. */
  async undoFates(
    agent: ProcessRecord,
    undos: readonly FileUndo[],
    asker: Actor,
  ): Promise<readonly FileFate[]> {
    const core = await this.#load()
    const fates: FileFate[] = []
    for (const undo of undos) {
      const answer = undo.type === 'left' ? undo : await core.putBack(agent, undo, asker, { isDry: true })
      fates.push(answer.type === 'left' ? leftFate(answer) : putBackFate(answer.write))
    }
    return fates
  }

  async seen(agent: Pid, files: readonly SeenFile[]): Promise<void> {
    if (files.length > 0) await (await this.#load()).seen(agent, files)
  }

  #load(): Promise<ToolboxCore> {
    this.#core ??= import('./toolbox-core.ts').then(
      (loaded) => new loaded.ToolboxCore(this.#parts, this.sessions, this.#names),
    )
    return this.#core
  }

  /** Forgets the state of the agent, and ends its session with the commands that still run in it. */
  async #agentEnded(pid: Pid): Promise<void> {
    const core = await this.#core
    core?.tools.forget(pid)
    await this.sessions.end(pid)
  }
}
