import { RefusedError } from '../core/errors.ts'
import type { Served } from '../core/lease/holder.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { refusal } from '../core/refusal.ts'
import type { ToolDeclaration } from '../core/tool/declaration.ts'
import type { ToolDefinition } from '../verbs/define-tool.ts'
import type { ToolHandler } from '../verbs/tool-function.ts'

/** A tool without a declaration, or one that `defineTool` made. */
export type ServedTool = ToolHandler | ToolDefinition

/** The tools that this program serves, by name. */
export class ServedTools {
  readonly #tools = new Map<string, ServedTool>()
  /** Every registration asks for it. */
  #serves: readonly Served[] | undefined

  get names(): readonly string[] {
    return [...this.#tools.keys()]
  }

  get declarations(): readonly ToolDeclaration[] {
    return [...this.#tools.values()].flatMap((tool) => {
      if (typeof tool === 'function') return []
      const { name, description, inputSchema, recovery } = tool
      return [{ name, description, inputSchema, recovery }]
    })
  }

  /** As the row of a holder has it. */
  get serves(): readonly Served[] {
    this.#serves ??= this.#served()
    return this.#serves
  }

  #served(): readonly Served[] {
    const { names, declarations } = this
    if (names.length === 0) return []
    return [
      {
        kind: 'tool',
        targets: names,
        ...(declarations.length === 0 ? {} : { tools: declarations }),
      },
    ]
  }

  add(name: string, tool: ServedTool): void {
    if (typeof tool !== 'function' && tool.name !== name)
      throw new RefusedError(
        refusal(
          'invalid_input',
          `The tool ${tool.name} cannot be served as ${name}.`,
          'Serve a defined tool under its own name.',
        ),
      )
    if (this.#tools.has(name))
      throw new RefusedError(
        refusal('conflict', `The tool ${name} is served here already.`, 'Give each tool a name of its own.'),
      )
    this.#tools.set(name, tool)
    this.#serves = undefined
  }

  remove(name: string): void {
    this.#tools.delete(name)
    this.#serves = undefined
  }

  /** The handler that runs this process; undefined if its tool is not served here. */
  handlerOf({ spec }: ProcessRecord): ToolHandler | undefined {
    const tool = this.#tools.get(String(spec['tool']))
    return typeof tool === 'object' ? tool.handler : tool
  }
}
