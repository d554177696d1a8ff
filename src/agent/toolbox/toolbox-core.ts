import type { HookEnd, HookPlace } from '../../core/agent/hooks.ts'
import { USE_SKILL } from '../../core/agent/skills.ts'
import type { PutBack } from '../../core/files/plan-undo.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { Actor, ProcessRecord } from '../../core/process/record.ts'
import type { Work } from '../../kernel/executor.ts'
import type { SeenFile } from '../tools/files/file-tracker.ts'
import type { PutBackAnswer } from '../tools/files/put-back.ts'
import type { AgentSessions } from './agent-sessions.ts'
import { AgentTools } from './agent-tools.ts'
import type { BuiltInNames } from './built-in-names.ts'
import { BuiltInTools } from './built-in-tools.ts'
import { Hooks } from './hooks.ts'
import type { MemoryStore } from './memory-store.ts'
import { RunningCalls } from './running-calls.ts'
import { Scripts } from './scripts.ts'
import { ToolCalls } from './tool-calls.ts'
import type { PendingCall, Toolbox, ToolboxParts } from './toolbox.ts'

/** The part of the toolbox that has the tools themselves: it is loaded with the first agent. */
export class ToolboxCore implements Toolbox {
  readonly tools: AgentTools
  readonly builtIn: BuiltInTools
  readonly #parts: ToolboxParts
  readonly #sessions: AgentSessions
  readonly #names: BuiltInNames
  readonly #toolCalls: ToolCalls
  readonly #hooks: Hooks

  constructor(parts: ToolboxParts, sessions: AgentSessions, names: BuiltInNames) {
    const calls = new RunningCalls()
    this.#parts = parts
    this.#sessions = sessions
    this.#names = names
    this.tools = new AgentTools(parts, calls)
    this.#hooks = new Hooks(parts)
    this.builtIn = new BuiltInTools(parts, this.tools, calls, new Scripts(parts, this.tools, this.#hooks))
    this.#toolCalls = new ToolCalls(parts, this.tools, sessions, this.#hooks)
  }

  async declarations(agent: ProcessRecord): ReturnType<Toolbox['declarations']> {
    await this.#sessions.of(agent)
    await this.#learn(agent)
    const { declared } = await this.tools.declared(agent)
    return declared.map(({ name, description, inputSchema, recovery }) => ({
      name,
      description,
      inputSchema,
      recovery,
    }))
  }

  async run(work: Work, turn: number, calls: readonly PendingCall[], signal: AbortSignal): Promise<void> {
    await this.#learn(work.record)
    // The calls need slots of their own: with one slot for all, an agent that keeps its slot would wait forever.
    const takeSlotBack = work.lendSlot()
    try {
      const ended = await Promise.allSettled(
        calls.map((pending) => this.#toolCalls.run(work, turn, pending, signal)),
      )
      const failed = ended.find((one) => one.status === 'rejected')
      if (failed !== undefined) throw failed.reason
    } finally {
      takeSlotBack()
    }
  }

  async hooks(work: Work, at: HookPlace, signal: AbortSignal): Promise<readonly HookEnd[]> {
    await this.#sessions.of(work.record)
    // Its hooks run as commands, which may need slots.
    const takeSlotBack = work.lendSlot()
    try {
      return await this.#hooks.run(work, at, signal)
    } finally {
      takeSlotBack()
    }
  }

  async skills(agent: ProcessRecord): ReturnType<Toolbox['skills']> {
    const lines = await this.tools.skills.lines(agent)
    if (lines.length === 0) return []
    const isUsable = (await this.tools.of(agent)).some(({ name }) => name === USE_SKILL)
    return isUsable ? lines : []
  }

  skillTexts(agent: ProcessRecord, names: readonly string[]): ReturnType<Toolbox['skillTexts']> {
    return this.tools.skills.texts(agent, names)
  }

  memory(agent: ProcessRecord): Promise<MemoryStore | null> {
    return this.tools.memory(agent)
  }

  putBack(agent: ProcessRecord, undo: PutBack, asker: Actor, how = { isDry: false }): Promise<PutBackAnswer> {
    return this.tools.putBack(agent, undo, asker, how)
  }

  async seen(agent: Pid, files: readonly SeenFile[]): Promise<void> {
    this.tools.seen(agent, files)
  }

  /** A kernel claims calls of tools that it serves: those of the agent's servers become known with the agent. */
  async #learn(agent: ProcessRecord): Promise<void> {
    const names = (await this.tools.builtIn(agent)).map(({ name }) => name)
    if (this.#names.learn(names)) await this.#parts.kernel().announce()
  }
}
