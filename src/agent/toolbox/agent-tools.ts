import { realpath } from 'node:fs/promises'
import { BoundedMap } from '../../base/bounded-map.ts'
import type { PutBack } from '../../core/files/plan-undo.ts'
import { memoryOf } from '../../core/memory/memory-spec.ts'
import type { PlanList } from '../../core/plan/plan-list.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { Actor, ProcessRecord } from '../../core/process/record.ts'
import { startSpecOf } from '../../core/process/spec.ts'
import type { ToolDeclaration } from '../../core/tool/declaration.ts'
import { type DeclarableTool, type DeclaredTools, declareTools } from '../../core/tool/declared-tools.ts'
import type { AgentTool } from '../tools/agent-tool.ts'
import { type FileToolParts, fileTools } from '../tools/files/file-tools.ts'
import { FileTracker, type SeenFile } from '../tools/files/file-tracker.ts'
import { type PutBackAnswer, putBack } from '../tools/files/put-back.ts'
import { memoryTools } from '../tools/memory/memory-tools.ts'
import { planTool } from '../tools/plan-list.ts'
import { toolSearchTool } from '../tools/tool-search.ts'
import { webFetchTool } from '../tools/web/web-fetch.ts'
import { AgentRules } from './agent-rules.ts'
import { commandTools } from './command-tools.ts'
import { connectedTools } from './connected-tools.ts'
import { delegationTools } from './delegation-tools.ts'
import { EarlierCalls } from './earlier-calls.ts'
import { EarlierFiles } from './earlier-files.ts'
import { checkWrite, refuseWrites } from './held-paths.ts'
import { humanTools } from './human-tools.ts'
import { type MemoryStore, memoryStore } from './memory-store.ts'
import { AgentMemoryUses } from './memory-uses.ts'
import { readResultTool } from './read-result.ts'
import type { RunningCalls } from './running-calls.ts'
import { scriptTool } from './script-tool.ts'
import { Skills } from './skill-tools.ts'
import type { ToolboxParts } from './toolbox.ts'
import { proposeTool, type WrittenAgentTool, writtenTools } from './written-tools.ts'

/** Agents whose tools are kept in memory. */
const MAX_AGENTS = 1_000

/** A tool of an agent. `tool` null: a connected program runs it. */
export interface KnownTool extends DeclarableTool {
  readonly tool: AgentTool | null
}

/** Tools that serve other tools. They add no rights: without them the agent could not use its other tools. */
const ALWAYS = ['tool_search', 'read_result']

/** The tools of each agent. Those of this program are made once for an agent; others come and go. */
export class AgentTools {
  readonly skills: Skills
  readonly #parts: ToolboxParts
  readonly #calls: RunningCalls
  readonly #earlier: EarlierCalls
  readonly #tracker: FileTracker
  readonly #made = new BoundedMap<Pid, Promise<readonly AgentTool[]>>(MAX_AGENTS)
  /** `seq` of the rewind that their sessions are at. */
  readonly #branches = new BoundedMap<Pid, number>(MAX_AGENTS)
  /** Plans that were changed here. Before that, the plan is in the results of earlier calls. */
  readonly #plans = new BoundedMap<Pid, PlanList>(MAX_AGENTS)

  readonly #uses: AgentMemoryUses

  constructor(parts: ToolboxParts, calls: RunningCalls) {
    this.skills = new Skills(parts.kernel)
    this.#parts = parts
    this.#calls = calls
    this.#earlier = new EarlierCalls(parts.kernel)
    this.#uses = new AgentMemoryUses(this.#earlier)
    this.#tracker = new FileTracker(new EarlierFiles(parts.kernel), () => parts.kernel().edges.clock.now())
  }

  /** All tools that the agent may call, in a stable order. */
  async of(agent: ProcessRecord): Promise<readonly KnownTool[]> {
    const connected = await connectedTools(this.#parts.kernel().edges)
    const replaced = new Set(connected.map(({ name }) => name))
    const own = (await this.builtIn(agent)).filter(({ name }) => !replaced.has(name))
    const all = [...own.map((tool) => known(tool, tool)), ...connected.map((tool) => known(tool, null))]
    const taken = new Set(all.map(({ name }) => name))
    // A tool that it has written needs no other consent, and stands for no other tool.
    const written = (await this.written(agent)).filter(({ name }) => !taken.has(name))
    return [...wanted(all, namesIn(agent)), ...written.map((tool) => known(tool, tool))]
  }

  /** The tools that it, or an agent above it, has written. */
  written(agent: ProcessRecord): Promise<readonly WrittenAgentTool[]> {
    return writtenTools(this.#parts.kernel(), this.#parts.compileSchema, agent)
  }

  /** The names of tools that no agent has written. */
  async #taken(agent: ProcessRecord): Promise<ReadonlySet<string>> {
    const connected = await connectedTools(this.#parts.kernel().edges)
    return new Set([...(await this.builtIn(agent)), ...connected].map(({ name }) => name))
  }

  /** The tools that its prompt declares, and the rest. */
  async declared(agent: ProcessRecord): Promise<DeclaredTools<KnownTool>> {
    const all = await this.of(agent)
    const others = all.filter(({ name }) => name !== 'tool_search')
    const whole = declareTools(others)
    if (whole.searchable.length === 0) return whole
    const found = await this.#earlier.found(agent.pid)
    const written = all.filter(({ tool }) => tool?.process !== undefined).map(({ name }) => name)
    return declareTools(all, new Set([...found, ...written]))
  }

  /** The tools that this program runs, whether or not the agent's spec names them. */
  async builtIn(agent: ProcessRecord): Promise<readonly AgentTool[]> {
    this.#noteBranch(agent)
    const made = this.#made.get(agent.pid) ?? this.#make(agent)
    this.#made.set(agent.pid, made)
    const [more = [], skills] = await Promise.all([
      this.#parts.moreTools?.(agent),
      this.skills.toolsFor(agent),
    ])
    return [...(await made), ...skills, ...more]
  }

  /** The agent has seen these files in its inputs. */
  seen(agent: Pid, files: readonly SeenFile[]): void {
    this.#tracker.seen(agent, files)
  }

  /** The long-term memory of the agent; null if it has none. */
  async memory(agent: ProcessRecord): Promise<MemoryStore | null> {
    if (memoryOf(agent) === null) return null
    const files = await this.#fileParts(agent)
    return files === null ? null : memoryStore(files)
  }

  /** Gives a file its earlier content, if the agent wrote it last. */
  async putBack(
    agent: ProcessRecord,
    undo: PutBack,
    asker: Actor,
    how: { readonly isDry: boolean },
  ): Promise<PutBackAnswer> {
    const { kernel } = this.#parts
    const files = await this.#fileParts(agent)
    if (files === null) return { type: 'left', path: undo.path, why: 'denied' }
    const parts = {
      ...files,
      blobs: kernel().edges.store.blobs,
      isHeld: async (path: string) => (await refuseWrites(kernel(), agent.pid, [path])).length > 0,
      isPersons: asker === 'host' || asker.startsWith('human:'),
    }
    return putBack(parts, undo, how)
  }

  /** What it remembers of an agent is of one branch of its session. */
  #noteBranch({ pid, agent }: ProcessRecord): void {
    const at = agent?.branch?.at ?? 0
    if ((this.#branches.get(pid) ?? 0) !== at) {
      this.#plans.delete(pid)
      this.#uses.forget(pid)
      this.#tracker.forget(pid)
    }
    this.#branches.set(pid, at)
  }

  /** The agent has ended. */
  forget(agent: Pid): void {
    this.#made.delete(agent)
    this.#plans.delete(agent)
    this.#uses.forget(agent)
    this.#tracker.forget(agent)
  }

  async #make(agent: ProcessRecord): Promise<readonly AgentTool[]> {
    const { kernel, ownAddresses, spawnAs, actAs, mask, hasCommands } = this.#parts
    const calls = this.#calls
    const { pid } = agent
    const { isNamed, refuse } = new AgentRules(kernel, pid)
    const files = await this.#fileParts(agent)
    const root = files?.root ?? null
    return [
      ...(files === null ? [] : fileTools(files)),
      ...(files?.hasMemory === true ? memoryTools(files, this.#uses.of(pid)) : []),
      ...(hasCommands ? commandTools({ kernel, spawnAs, actAs, agent: pid, root, calls }) : []),
      readResultTool({ kernel, mask, agent: pid }),
      ...humanTools({ kernel, spawnAs, calls }),
      ...delegationTools({ kernel, actAs, agent: pid, root, mergedPaths: this.#parts.mergedPaths }),
      toolSearchTool({ searchable: () => this.#searchable(pid) }),
      webFetchTool({ isNamed, refuse, ownAddresses }),
      scriptTool(),
      proposeTool({
        kernel,
        calls,
        agent,
        compileSchema: this.#parts.compileSchema,
        taken: (of) => this.#taken(of),
      }),
      planTool({
        plan: () => this.#plans.get(pid) ?? this.#earlier.plan(pid),
        keep: async (plan) => void this.#plans.set(pid, plan),
      }),
    ]
  }

  /** Null without a workspace. */
  async #fileParts(agent: ProcessRecord): Promise<FileToolParts | null> {
    const { kernel, mask } = this.#parts
    const { pid, cwd } = agent
    if (cwd === null) return null
    const { isNamed, readable, ruling } = new AgentRules(kernel, pid)
    return {
      root: await realpath(cwd).catch(() => cwd),
      agent: pid,
      tracker: this.#tracker,
      isNamed,
      readable,
      ruling,
      mask,
      hasMemory: memoryOf(agent) !== null,
      checkWrite: (path, call) => checkWrite(kernel(), pid, call, path),
    }
  }

  async #searchable(pid: Pid): Promise<readonly ToolDeclaration[]> {
    const row = await this.#parts.kernel().edges.store.ask({ ask: 'process', pid })
    return row === null ? [] : (await this.declared(row.record)).searchable
  }
}

function known(declared: DeclarableTool, tool: AgentTool | null): KnownTool {
  const { name, description, inputSchema, recovery, essential = false, spare = false } = declared
  return { name, description, inputSchema, recovery, essential, spare, tool }
}

function wanted(tools: readonly KnownTool[], names: readonly string[] | null): readonly KnownTool[] {
  if (names === null) return tools
  if (names.length === 0) return []
  return tools.filter(({ name }) => names.includes(name) || ALWAYS.includes(name))
}

/** The tools that the spec of the agent names; null if it names none, which means all. */
function namesIn(agent: ProcessRecord): readonly string[] | null {
  const { tools } = startSpecOf(agent)
  return Array.isArray(tools) ? tools.filter((name) => typeof name === 'string') : null
}
