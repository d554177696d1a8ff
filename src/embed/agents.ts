import { type AgentFacts, modelOf } from '../actions/agent-facts.ts'
import { compileSchema } from '../actions/json-schema/compile.ts'
import { AGENT_TIMES, type AgentParts, type AgentTimes } from '../agent/agent-parts.ts'
import { type LiveLogs, NO_LIVE_LOGS } from '../agent/live/live-logs.ts'
import { MEMORY_TIMEOUT_MS, type MemoryTimes } from '../agent/memory/memory-times.ts'
import { NativeAgents } from '../agent/native-agents.ts'
import { openForAgent } from '../agent/open-for-agent.ts'
import type { OutsideParts } from '../agent/outside/outside-parts.ts'
import { AgentToolbox } from '../agent/toolbox/agent-toolbox.ts'
import type { Toolbox, ToolboxParts } from '../agent/toolbox/toolbox.ts'
import type { Commands } from '../command/commands.ts'
import type { NamedSecrets } from '../command/environment/named-secrets.ts'
import { isOutsideModel, outsideProgramOf, unbudgeted, unknownOutside } from '../core/agent/outside.ts'
import { asJson, own } from '../core/json/json.ts'
import { MEMORY_WORKFLOW, memoryOf } from '../core/memory/memory-spec.ts'
import { type ModelRefusal, modelRefusal } from '../core/model/refusal.ts'
import type { Actor } from '../core/process/record.ts'
import type { Executor } from '../kernel/executor.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { descriptorLimitOf } from '../os/descriptors.ts'
import { maxOpenLogs } from '../output-log/open-logs.ts'
import { ownVersion } from '../package/own-files.ts'
import { systemClock } from '../store/system-clock.ts'
import type { ReeveVerbs } from '../verbs/reeve.ts'
import type { WorkflowFunction } from '../verbs/workflow-function.ts'
import { commandReader } from './agent-commands.ts'
import { folderIn } from './agent-folders.ts'
import { AgentModels, type AgentModelsParts } from './agent-models.ts'
import { fileCompleter, referenceReader } from './agent-references.ts'
import { AgentMcpServers } from './agent-servers.ts'
import { DataFolderWorktrees } from './agent-worktrees.ts'
import { pathsIn } from './delegated-paths.ts'
import { runGoalCheck } from './goal-checks.ts'

/** Makes the executor of agents, which uses the toolbox. */
export type AgentDriver = (toolbox: Toolbox) => Executor

export interface AgentsParts extends AgentModelsParts {
  readonly kernel: () => Kernel
  readonly mask: (text: string) => string
  readonly commands: () => Commands | undefined
  /** The verbs in the name of an actor. */
  readonly actAs: (actor: Actor) => ReeveVerbs
  readonly spawnAs: ToolboxParts['spawnAs']
  readonly registerHook: ToolboxParts['registerHook']
  readonly environmentSecrets: NamedSecrets
  readonly hasCommands: boolean
  readonly times: Partial<AgentTimes>
  /** For agents with long-term memory. */
  readonly memory: Partial<MemoryTimes>
  readonly onTrouble: (error: unknown, doing: string) => void
  /** Makes the executor of agents, instead of the usual one. */
  readonly driver: AgentDriver | undefined
  readonly toolbox: Partial<ToolboxParts>
  /** For agents that are programs of their own. */
  readonly outside: Partial<Pick<OutsideParts, 'ownServer' | 'times'>>
}

/** Everything of a program that drives agents. */
export interface OpenedAgents {
  readonly toolbox: AgentToolbox
  readonly servers: AgentMcpServers
  readonly executors: readonly Executor[]
  /** Workflows of Reeve itself, by name. */
  readonly workflows: Readonly<Record<string, WorkflowFunction>>
  readonly facts: AgentFacts
  /** Undefined without a data folder. */
  readonly worktrees: DataFolderWorktrees | undefined
}

/** Makes the executors of agents and of their tools. Models and tools are loaded when the first agent runs. */
export function openAgents(parts: AgentsParts): OpenedAgents {
  const { kernel, actAs, spawnAs, registerHook, mask, hasCommands } = parts
  const models = new AgentModels(parts)
  const servers = new AgentMcpServers({
    actAs,
    secrets: parts.environmentSecrets,
    openSession: (agent) => toolbox.sessions.of(agent),
  })
  const held = parts.commands()
  const worktrees =
    held === undefined
      ? undefined
      : new DataFolderWorktrees({ folder: held.home.folder, kernel, onTrouble: parts.onTrouble })
  const toolbox = new AgentToolbox({
    kernel,
    spawnAs,
    registerHook,
    actAs,
    moreTools: servers.toolsFor,
    compileSchema,
    mask,
    hasCommands,
    ownAddresses: () => [],
    ...(worktrees === undefined ? {} : { mergedPaths: (worktree) => worktrees.changes(worktree) }),
    ...parts.toolbox,
  })
  const driver = parts.driver?.(toolbox) ?? nativeAgents(parts, { models, toolbox, servers })
  return {
    toolbox,
    servers,
    executors: [toolbox.executor, driver],
    workflows: { [MEMORY_WORKFLOW]: memoryJobs(parts, { models, toolbox }) },
    facts: {
      ...agentFacts(parts, { models, servers, toolbox }),
      ...(worktrees === undefined ? {} : { worktrees }),
    },
    worktrees,
  }
}

type Opened = Pick<OpenedAgents, 'toolbox' | 'servers'> & { readonly models: AgentModels }

function nativeAgents(parts: AgentsParts, opened: Opened): NativeAgents {
  let loaded: Promise<AgentParts> | undefined
  return new NativeAgents((kernel) => {
    loaded ??= agentParts(parts, kernel, opened).catch((error: unknown) => {
      // The next agent tries again.
      loaded = undefined
      throw error
    })
    return loaded
  })
}

/** The workflow is loaded with its first job. */
function memoryJobs(
  { kernel, mask, memory }: AgentsParts,
  { models, toolbox }: Pick<Opened, 'models' | 'toolbox'>,
): WorkflowFunction {
  const parts = { kernel, models, toolbox, mask, times: { timeoutMs: MEMORY_TIMEOUT_MS, ...memory } }
  return async (context) => {
    const { runMemoryJob } = await import('../agent/memory/memory-workflow.ts')
    return runMemoryJob(context, { ...parts, kernel: kernel() })
  }
}

async function agentParts(parts: AgentsParts, kernel: Kernel, opened: Opened): Promise<AgentParts> {
  return {
    ...opened,
    outside: outsideParts(parts, opened),
    live: await liveLogs(parts),
    runCheck: (work, check, signal) => runGoalCheck(kernel, parts.actAs, work, { ...check, signal }),
    compileSchema,
    mask: parts.mask,
    times: parts.times,
  }
}

function outsideParts(
  { actAs, environmentSecrets, outside }: AgentsParts,
  { toolbox }: Opened,
): OutsideParts {
  return {
    verbsOf: ({ pid }) => actAs(`process:${pid}`),
    openSession: (agent) => toolbox.sessions.of(agent),
    secrets: (values) => environmentSecrets.variablesOf({ variables: values, policy: {}, options: {} }),
    ownServer: () => null,
    version: ownVersion(),
    ...outside,
  }
}

/** Why a model that names a program cannot be used, as far as it is known before the program runs. */
function refuseOutside(
  { limits, outside: program }: Parameters<AgentFacts['refuseModel']>[0],
  model: string,
): ModelRefusal | undefined {
  const spec = { agent: 'outside', model, ...(program === undefined ? {} : { program }) }
  if (outsideProgramOf(spec) === null) return modelRefusal('model_unknown', ...unknownOutside(model))
  return limits.allowance?.cost === undefined
    ? undefined
    : modelRefusal('model_unpriced', ...unbudgeted(model))
}

/** Facts about agents for the verbs that inspect and configure them. */
function agentFacts(
  { options, kernel, driver, times }: AgentsParts,
  { models, servers, toolbox }: Opened,
): AgentFacts {
  return {
    readReference: referenceReader(kernel),
    commandsOf: commandReader(kernel, servers),
    filesBeginning: fileCompleter(kernel),
    openSession: (agent) => toolbox.sessions.of(agent),
    async joinMemory(agent) {
      if (memoryOf(agent) === null) return
      const { memoryMs } = { ...AGENT_TIMES, ...times }
      const { MemoryJobs } = await import('../agent/memory/memory-jobs.ts')
      const { edges } = kernel()
      const jobs = new MemoryJobs(kernel())
      // A crash may have come between the last turn and its job. On another machine the files may be others.
      if (edges.machine === undefined || edges.machine === null) await jobs.begin(agent)
      await jobs.join(agent.pid, { timeoutMs: memoryMs })
    },
    undoFates: (agent, undos, asker) => toolbox.undoFates(agent, undos, asker),
    folderIn,
    pathsIn: async (agent, paths) => ({ host: kernel().host ?? '', ...(await pathsIn(agent, paths)) }),
    opensModels: driver === undefined,
    refuseModel: async (agent, model) => {
      if (isOutsideModel(model)) return refuseOutside(agent, model)
      const opened = await openForAgent(models, agent, model)
      return opened.type === 'refused' ? opened : undefined
    },
    factsOf: (id) => models.factsOf(id),
    settingsOf: (agent) => {
      const facts = own(options.models, modelOf(agent))
      return facts === undefined ? [] : [{ name: 'modelFacts', value: asJson(facts), source: 'settings' }]
    },
  }
}

async function liveLogs({ commands, onTrouble }: AgentsParts): Promise<LiveLogs> {
  const held = commands()
  if (held === undefined) return NO_LIVE_LOGS
  const { openLiveLogs } = await import('../agent/live/open-live-logs.ts')
  return openLiveLogs({
    ...held.liveLogs,
    maxOpen: maxOpenLogs(descriptorLimitOf('self') ?? Number.POSITIVE_INFINITY),
    onTrouble,
    now: () => systemClock.now(),
  })
}
