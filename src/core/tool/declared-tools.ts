import type { ToolDeclaration } from './declaration.ts'

/** How many tokens of a prompt declarations may take. */
export const DECLARATION_TOKENS = 3_000

/** Providers count differently; schemas are dense, so a token is taken to be shorter than in prose. */
const CHARS_PER_TOKEN = 3.5
/** What a provider adds for each tool: its envelope and separators. */
const TOKENS_PER_TOOL = 12

export interface DeclarableTool extends ToolDeclaration {
  /** It is declared before others: without it the agent cannot work, or cannot find the rest. */
  readonly essential?: boolean
  /** It is declared after others: the agent works without it, and finds it by search. */
  readonly spare?: boolean
}

export interface DeclaredTools<Tool extends DeclarableTool> {
  /** In the order in which they were given, so that the prompt stays the same from call to call. */
  readonly declared: readonly Tool[]
  /** Found by search, and described on demand. */
  readonly searchable: readonly Tool[]
  readonly tokens: number
}

/**
 * Which tools a prompt declares. Essential ones come first, then those that the agent has found before, then the rest in their
 * order, and spare ones last, as long as they fit: a large tool is left out, and a smaller one after it may still fit.
 */
export function declareTools<Tool extends DeclarableTool>(
  tools: readonly Tool[],
  found: ReadonlySet<string> = new Set(),
  budget = DECLARATION_TOKENS,
): DeclaredTools<Tool> {
  const rank = (tool: Tool) => {
    if (tool.essential === true) return 0
    if (found.has(tool.name)) return 1
    return tool.spare === true ? 3 : 2
  }
  const byRank = [...tools.entries()].sort(([a, one], [b, other]) => rank(one) - rank(other) || a - b)
  const declared = new Set<Tool>()
  let tokens = 0
  for (const [, tool] of byRank) {
    const taken = declarationTokens(tool)
    if (tokens + taken > budget) continue
    declared.add(tool)
    tokens += taken
  }
  return {
    declared: tools.filter((tool) => declared.has(tool)),
    searchable: tools.filter((tool) => !declared.has(tool)),
    tokens,
  }
}

/** An estimate of the tokens that a declaration takes. */
export function declarationTokens({ name, description, inputSchema }: ToolDeclaration): number {
  const chars = name.length + description.length + JSON.stringify(inputSchema).length
  return TOKENS_PER_TOOL + Math.ceil(chars / CHARS_PER_TOKEN)
}

/** The tools that fit a search best: by words of their name first, then by words of their description. */
export function searchTools<Tool extends ToolDeclaration>(
  tools: readonly Tool[],
  query: string,
  limit: number,
): readonly Tool[] {
  const words = wordsOf(query)
  return tools
    .map((tool) => ({ tool, score: scoreOf(tool, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
    .slice(0, limit)
    .map(({ tool }) => tool)
}

function scoreOf({ name, description }: ToolDeclaration, words: readonly string[]): number {
  const named = wordsOf(name)
  const described = wordsOf(description)
  return words.reduce((score, word) => {
    if (name.toLowerCase() === word || named.includes(word)) return score + 10
    if (named.some((one) => one.startsWith(word))) return score + 5
    if (described.includes(word)) return score + 2
    return score + (described.some((one) => one.startsWith(word)) ? 1 : 0)
  }, 0)
}

function wordsOf(text: string): readonly string[] {
  const parts = text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
  return parts.filter((word) => word !== '')
}
