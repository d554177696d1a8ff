import * as z from 'zod'
import type { ToolDeclaration } from '../../core/tool/declaration.ts'
import { searchTools } from '../../core/tool/declared-tools.ts'
import { type AgentTool, agentTool, textOutput } from './agent-tool.ts'

const DEFAULT_FOUND = 5
const MAX_FOUND = 20

export interface ToolSearchParts {
  /** The tools that the prompt does not declare. */
  searchable(): readonly ToolDeclaration[] | Promise<readonly ToolDeclaration[]>
}

const input = z.strictObject({
  query: z.string().min(1).max(500).describe('a name, or words of it or of the description'),
  limit: z.number().int().min(1).max(MAX_FOUND).optional(),
})

/** The next prompt declares the tools that a search finds, as far as they fit. */
export function toolSearchTool({ searchable }: ToolSearchParts): AgentTool {
  return agentTool({
    name: 'tool_search',
    description: 'Finds further tools, with their input schemas.',
    input,
    recovery: 'rerunnable',
    essential: true,
    async run({ query, limit = DEFAULT_FOUND }) {
      const tools = await searchable()
      const matches = searchTools(tools, query, limit)
      if (matches.length === 0)
        return textOutput(
          `None of ${tools.length} further tools fits ${JSON.stringify(query)}. Use other words.`,
        )
      const described = matches.map(
        ({ name, description, inputSchema }) =>
          `${name}: ${description}\ninput: ${JSON.stringify(inputSchema)}`,
      )
      return { ...textOutput(described.join('\n\n')), found: matches.map(({ name }) => name) }
    },
  })
}
