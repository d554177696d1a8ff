import { messageOf } from '../../base/error-text.ts'
import { asJson, type JsonObject } from '../../core/json/json.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import { isRefusal } from '../../core/refusal.ts'
import { PROPOSE_TOOL, SCRIPT } from '../../core/tool/built-in-name.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import { registerTool, type VisibleTool, visibleTools } from '../../kernel/written-tools.ts'
import { writtenTool } from '../../verbs/shapes/script.ts'
import { type AgentTool, agentTool, ToolError, textOutput } from '../tools/agent-tool.ts'
import type { RunningCalls } from './running-calls.ts'
import { notHere } from './script-tool.ts'
import type { ToolboxParts } from './toolbox.ts'

/** The tools that this agent, or one above it, has written. */
export async function writtenTools(
  kernel: Kernel,
  compileSchema: Compile,
  agent: ProcessRecord,
): Promise<readonly WrittenAgentTool[]> {
  return (await visibleTools(kernel.edges, agent)).map((one) => asAgentTool(compileSchema, one))
}

type Compile = ToolboxParts['compileSchema']

/** A tool of the toolbox with the version that it is. */
export interface WrittenAgentTool extends AgentTool {
  readonly hash: string
}

function asAgentTool(compileSchema: Compile, { tool, hash }: VisibleTool): WrittenAgentTool {
  const { name, description, inputSchema, source } = tool
  return {
    name,
    description,
    inputSchema,
    hash,
    recovery: 'rerunnable',
    maxMs: null,
    async parse(given) {
      const misfit = compileSchema(inputSchema)(asJson(Object(given)))
      if (misfit === undefined) return given
      throw new ToolError('invalid_input', `The input of ${name} is wrong: ${misfit}`)
    },
    needs: async () => [],
    run: notHere,
    script: (args) => ({ source, args: JSON.parse(JSON.stringify(args ?? {})) }),
    process: (args) => ({ tool: SCRIPT, input: { tool: name, hash, args } }),
  }
}

export interface ProposeToolParts {
  readonly kernel: () => Kernel
  readonly calls: RunningCalls
  /** The names of all other tools of this agent: a written one replaces none of them. */
  readonly taken: (agent: ProcessRecord) => Promise<ReadonlySet<string>>
  readonly agent: ProcessRecord
  readonly compileSchema: Compile
}

/** Registers a tool for the agent, once a person has read it, or where a rule allows it by name. */
export function proposeTool({ kernel, calls, taken, agent, compileSchema }: ProposeToolParts): AgentTool {
  const refuseTaken = async (name: string) => {
    if ((await taken(agent)).has(name))
      throw new ToolError('invalid_input', `There is a tool ${name} already. Take another name.`)
  }
  return agentTool({
    name: PROPOSE_TOOL,
    description:
      'Proposes a tool of your own: TypeScript as for script, with a JSON schema of its input. A person reads it first. Then you call it by its name, and may hand it to agents below you.',
    input: writtenTool,
    recovery: 'rerunnable',
    spare: true,
    async needs({ name, inputSchema }) {
      await refuseTaken(name)
      refuseUnusable(compileSchema, inputSchema)
      const resource = { kind: 'tool', path: name } as const
      return [{ right: 'execute', resource, attributes: { confirmed: true } }]
    },
    async run(tool, { pid }) {
      await refuseTaken(tool.name)
      const { work } = calls.of(pid)
      const registered = await registerTool(
        kernel().edges,
        agent.pid,
        tool,
        work.record.gate?.approval ?? null,
      )
      if (isRefusal(registered)) throw new ToolError('refused', `${registered.message} ${registered.remedy}`)
      return textOutput(`You have the tool ${tool.name} now, version ${registered.version}.`)
    },
  })
}

function refuseUnusable(compileSchema: Compile, schema: JsonObject): void {
  try {
    compileSchema(schema)
  } catch (error) {
    throw new ToolError('invalid_input', `The schema cannot be used: ${messageOf(error)}`)
  }
}
