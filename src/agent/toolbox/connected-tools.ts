import { isDead, isServed } from '../../core/lease/holder.ts'
import type { ToolDeclaration } from '../../core/tool/declaration.ts'
import type { Edges } from '../../kernel/edges.ts'

/** The tools that programs declare: this one, by `embed({ tools })`, and connected ones. In the order of their names. */
export async function connectedTools(edges: Edges): Promise<readonly ToolDeclaration[]> {
  const served = (await liveHolders(edges)).flatMap(({ serves }) => serves)
  const tools = served.filter(({ kind }) => kind === 'tool').flatMap(({ tools: declared = [] }) => declared)
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Whether a live program serves this tool now. */
export async function isToolServed(edges: Edges, tool: string): Promise<boolean> {
  const holders = await liveHolders(edges)
  return holders.some(({ serves }) => isServed(serves, 'tool', tool))
}

async function liveHolders(edges: Edges) {
  const holders = await edges.store.ask({ ask: 'holders' })
  return holders.filter((holder) => !isDead(holder, edges.prove(holder)))
}
