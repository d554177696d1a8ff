import { didYouMean } from '../../base/nearest-name.ts'
import { type Refusal, refusal } from '../refusal.ts'

/** The tools of MCP servers: which there are, a server says once it is connected. */
const MCP = 'mcp__'

/** Refuses tools that an agent could never call, since no program has them. */
export function refuseUnknownTools(
  asked: readonly string[],
  known: ReadonlySet<string>,
): Refusal | undefined {
  const unknown = asked.filter((name) => !known.has(name) && !name.startsWith(MCP))
  const [first] = unknown
  if (first === undefined) return undefined
  return refusal(
    'invalid_request',
    `There is no tool ${unknown.join(', ')}, and no connected program serves one.${didYouMean(first, [...known])}`,
    'Correct the name, or start the program that serves it first.',
    { field: 'tools' },
  )
}
