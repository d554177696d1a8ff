import { parse } from '../actions/parse.ts'
import { registerHook, spawnChild } from '../actions/spawn.ts'
import type { ToolboxParts } from '../agent/toolbox/toolbox.ts'
import type { NamedSecrets } from '../command/environment/named-secrets.ts'
import type { Executor } from '../kernel/executor.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { type SpawnAs, Tools } from '../tool/in-process.ts'
import type { ServedTool } from '../tool/served-tools.ts'
import type { ToolDefinition } from '../verbs/define-tool.ts'
import { type ServesTools, type ServesWorkflows, verbs } from '../verbs/reeve.ts'
import type { WorkflowFunction } from '../verbs/workflow-function.ts'
import { type VariablesOf, Workflows } from '../workflow/in-kernel.ts'
import { type EmbedOptions, TOOL, WORKFLOW } from './options.ts'

interface OpenedFunctions {
  readonly executors: readonly Executor[]
  /** Workflows of Reeve itself, which no program serves in its place. */
  readonly addBuiltIn: (workflows: Readonly<Record<string, WorkflowFunction>>) => void
  /** Adds further functions while the kernel runs. */
  readonly calls: ServesWorkflows & ServesTools
  /** The verb `spawn` on behalf of a running process, under its fence. */
  readonly spawnAs: SpawnAs
  readonly registerHook: ToolboxParts['registerHook']
}

/** The workflows and tools of this program, and the executors that run them. */
export function serveFunctions(
  options: Pick<EmbedOptions, 'workflows' | 'tools'>,
  kernel: () => Kernel,
  secrets: NamedSecrets,
): OpenedFunctions {
  const spawnAs: SpawnAs = (work, request) =>
    spawnChild(kernel(), work, parse(verbs.spawn.input, request, 'spawn'))
  const variablesOf: VariablesOf = (record, running, signal) => secrets.variablesFor(record, running, signal)
  const workflows = new Workflows((work, request, stepIndex) => {
    const child = { ...request, parent: work.record.pid, idempotencyKey: `step:${stepIndex}` }
    return spawnChild(kernel(), work, parse(verbs.spawn.input, child, 'spawn'), stepIndex)
  }, variablesOf)
  for (const [name, run] of Object.entries(options.workflows ?? {})) workflows.add(name, run)
  const tools = new Tools(spawnAs, variablesOf)
  for (const [name, tool] of namedTools(options.tools)) tools.add(name, tool)
  return {
    executors: [workflows, tools],
    spawnAs,
    registerHook: (agent, request) =>
      registerHook(kernel(), agent, parse(verbs.spawn.input, request, 'spawn')),
    addBuiltIn(builtIn) {
      for (const [name, run] of Object.entries(builtIn)) workflows.add(name, run)
    },
    calls: {
      async workflow(name, run, given = {}) {
        const workflow = parse(WORKFLOW, { name, run, options: given }, 'workflow')
        workflows.add(workflow.name, workflow.run, workflow.options)
        await kernel().announce()
      },
      async tool(given) {
        const tool = parse(TOOL, given, 'tool')
        tools.add(tool.name, tool)
        await kernel().announce()
      },
    },
  }
}

function namedTools(tools: EmbedOptions['tools'] = {}): readonly (readonly [string, ServedTool])[] {
  return Array.isArray(tools)
    ? tools.map((tool: ToolDefinition) => [tool.name, tool] as const)
    : Object.entries(tools)
}
