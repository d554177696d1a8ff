import type * as z from 'zod'
import type { FileReference, ReferencedFile } from '../core/agent/input-part.ts'
import type { FileFate, FileUndo } from '../core/files/plan-undo.ts'
import type { DelegatedPaths } from '../core/lien/lien.ts'
import { factsOf, type ModelFacts } from '../core/model/facts.ts'
import { parseModelId } from '../core/model/model-id.ts'
import type { UserPart } from '../core/model/prompt.ts'
import type { ModelRefusal } from '../core/model/refusal.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import { type OutsideProgramSpec, startSpecOf } from '../core/process/spec.ts'
import type { ListedWorktree, MergedWorktree, NewWorktree, Worktree } from '../core/worktree/worktree.ts'
import type { configuredValue } from '../verbs/shapes/agent-view.ts'

export type ConfiguredValue = z.output<typeof configuredValue>

/** Facts about native agents that only the program that executes them knows. */
export interface AgentFacts {
  /** The known facts about a model, with the overrides of the settings. */
  factsOf(model: string): ModelFacts
  /** Values that count for this agent and are not in its spec: settings and defaults. */
  settingsOf(agent: ProcessRecord): readonly ConfiguredValue[]
  /** Its executor opens models by their ids. Another one may have agents whose models only it knows. */
  readonly opensModels: boolean
  /** Why this agent cannot use a model, as far as it is known before a call. */
  refuseModel(agent: ModelUser, model: string): Promise<ModelRefusal | undefined>
  /** The slash commands of this agent. */
  commandsOf(agent: ProcessRecord): Promise<readonly AgentCommand[]>
  /** The files and folders whose paths begin like this, as far as the agent may read their folder. */
  filesBeginning(
    agent: ProcessRecord,
    begun: string,
  ): Promise<readonly { readonly path: string; readonly isFolder: boolean }[]>
  /** Reads a file that an input refers to, under the rules of the agent. Throws a refusal that says why it cannot. */
  readReference(agent: ProcessRecord, reference: FileReference): Promise<ReferencedFile>
  /** Waits until the job that keeps the long-term memory of an agent has ended; for a minute at most. */
  joinMemory(agent: ProcessRecord): Promise<void>
  /** Opens the session of an agent, which owns everything below it. Returns its id. */
  openSession(agent: ProcessRecord): Promise<string>
  /** The canonical path of a folder inside the workspace of an agent. Throws a refusal if it is outside. */
  folderIn(agent: ProcessRecord, folder: string): Promise<string>
  /** The canonical paths of files and folders inside the workspace of an agent. Throws a refusal if one is outside. */
  pathsIn(agent: ProcessRecord, paths: readonly string[]): Promise<DelegatedPaths>
  /** What an undo would make of these files of the agent, as they are now. */
  undoFates(agent: ProcessRecord, undos: readonly FileUndo[], asker: Actor): Promise<readonly FileFate[]>
  /** Absent where this program has no data folder. */
  readonly worktrees?: AgentWorktrees
}

/** The git worktrees of agents. A request that cannot be met throws a refusal, and changes nothing. */
export interface AgentWorktrees {
  /** Makes one, or finds that of an earlier request. Returns the folder of the agent in it. */
  make(asked: NewWorktree): Promise<{ readonly cwd: string; readonly branch: string }>
  /** After `make`: the agent is registered. If it is not, the worktree is removed. */
  settled(pid: Pid): Promise<void>
  /** Before an agent is registered that goes on with the session of an ended one. If that has a worktree, call `settled` afterwards. */
  handOver(from: Pid, to: Pid): Promise<boolean>
  list(): Promise<readonly ListedWorktree[]>
  /** By the pid or the name of its agent, or its branch. */
  find(text: string): Promise<Worktree>
  merge(worktree: Worktree): Promise<MergedWorktree>
  /** `discard`: also with work that is nowhere else. */
  remove(worktree: Worktree, discard: boolean): Promise<void>
}

/** What decides whether an agent can use a model, besides the model. */
interface ModelUser {
  readonly cwd: string | null
  readonly limits: Pick<ProcessRecord['limits'], 'allowance'>
  /** The program of an outside agent that its spec names. */
  readonly outside?: OutsideProgramSpec
}

/** A slash command. */
export interface AgentCommand {
  readonly name: string
  readonly description: string
  /** Its origin, for people: `workspace`, `home`, `skill` or `mcp:notes`. */
  readonly source: string
  /** The names of its arguments, in their order. */
  readonly arguments: readonly string[]
  /** It is of a file that no person has trusted: it is not offered, and `resolve` says how to trust it. */
  readonly isInert: boolean
  /** What the model reads instead. Throws a refusal that says why it cannot. */
  resolve(text: string): Promise<readonly UserPart[]>
}

/** The model that the next call of an agent uses. */
export function modelOf(agent: ProcessRecord): string {
  return String(startSpecOf(agent)['model'])
}

/** Without an executor, the catalogue alone knows about models. */
export function modelFacts(model: string, executor: AgentFacts | undefined): ModelFacts {
  if (executor !== undefined) return executor.factsOf(model)
  const name = parseModelId(model)
  return name === undefined ? { features: {} } : factsOf(name)
}

/** Its name and its goal are not settings. */
const NOT_CONFIGURED: ReadonlySet<string> = new Set(['agent', 'goal'])

/** The values of the spec, and those of the executor for names that the spec leaves out. */
export function configurationOf(
  agent: ProcessRecord,
  executor: AgentFacts | undefined,
): readonly ConfiguredValue[] {
  const counts = startSpecOf(agent)
  const ofSpec = Object.entries(counts)
    .filter(([name]) => !NOT_CONFIGURED.has(name))
    .map(([name, value]): ConfiguredValue => {
      const isGiven = JSON.stringify(agent.spec[name]) === JSON.stringify(value)
      return { name, value, source: isGiven ? 'spec' : 'request' }
    })
  const others = (executor?.settingsOf(agent) ?? []).filter(({ name }) => !(name in counts))
  return [...ofSpec, ...others]
}
