import {
  type AgentTool,
  ToolError,
  type ToolOutput,
  toolRegistry,
} from '../../../src/agent/tools/agent-tool.ts'

/** Calls tools of a registry as an executor does: needs first, then the run. */
export function callerOf(tools: readonly AgentTool[], signal = new AbortController().signal) {
  const registry = toolRegistry(tools)
  const named = (name: string) => {
    const tool = registry.get(name)
    if (tool === undefined) throw new Error(`There is no tool ${name}`)
    return tool
  }
  const call = async (name: string, input: unknown): Promise<ToolOutput> => {
    await named(name).needs(input)
    return named(name).run(input, { pid: 'p_000000000call', abortSignal: signal })
  }
  return {
    call,
    needs: (name: string, input: unknown) => named(name).needs(input),
    /** The text of the result. */
    text: async (name: string, input: unknown) => textOf(await call(name, input)),
    /** The error of a call that must fail. */
    async refused(name: string, input: unknown): Promise<ToolError> {
      try {
        await call(name, input)
      } catch (error) {
        if (error instanceof ToolError) return error
        throw error
      }
      throw new Error(`${name} was not refused`)
    },
  }
}

export function textOf({ parts }: ToolOutput): string {
  return parts.map((part) => (part.type === 'text' ? part.text : `<${part.mediaType}>`)).join('\n')
}
