import { canonical } from '../json/canonical.ts'
import { asJson, type JsonObject } from '../json/json.ts'
import type { Pid } from '../process/pid.ts'
import type { Actor } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'

/** A tool that an agent has written. */
export type WrittenTool = {
  readonly name: string
  readonly description: string
  /** The JSON Schema of its input. */
  readonly inputSchema: JsonObject
  /** TypeScript: `export default (args, reeve) => …`. */
  readonly source: string
}

/** A written tool in the store: the present version of its name. */
export interface RegisteredTool {
  readonly tool: WrittenTool
  readonly hash: string
  /** How many versions were registered under the name, this one included. */
  readonly version: number
  readonly at: number
  /** The agent, if a person approved its proposal; otherwise the actor that registered it. */
  readonly by: Actor
  /** The approval of the proposal. Null if a rule allowed it, or a person registered it. */
  readonly approval: string | null
  readonly revoked: { readonly at: number; readonly by: Actor; readonly reason: string | null } | null
}

/** Tools that one agent may register: the prompt describes them, and a person reads each. */
const MAX_WRITTEN_TOOLS = 32

/** The text whose hash is the version of a tool. */
export function writtenToolText(tool: WrittenTool): string {
  return canonical(asJson(tool))
}

/** The subject of the set that has the tools of an agent. */
export function toolsSubject(agent: Pid): string {
  return `tool:${agent}`
}

/** The rule sets that a pruned process takes with it. */
export function subjectsOf(pid: Pid): readonly string[] {
  return [`process:${pid}`, toolsSubject(pid)]
}

/** The tools of an agent with this one as the present version of its name, or why that cannot be. */
export function withTool(
  agent: Pid,
  tools: readonly RegisteredTool[],
  registering: Omit<RegisteredTool, 'version' | 'revoked'>,
): { readonly tools: readonly RegisteredTool[]; readonly registered: RegisteredTool } | Refusal {
  const { name } = registering.tool
  const was = tools.find(({ tool }) => tool.name === name)
  if (was !== undefined && was.hash === registering.hash && was.revoked === null)
    return { tools, registered: was }
  if (was === undefined && tools.length >= MAX_WRITTEN_TOOLS)
    return refusal(
      'limit_exceeded',
      `limit:writtenTools of ${agent}: it has ${tools.length}, and ${MAX_WRITTEN_TOOLS} may be registered, revoked ones included.`,
      'Register the new version of a tool under the name that it has.',
      { limit: 'writtenTools', left: 0, asked: 1 },
    )
  const registered = { ...registering, version: (was?.version ?? 0) + 1, revoked: null }
  return {
    tools: [...tools.filter((one) => one !== was), registered].sort((a, b) =>
      a.tool.name < b.tool.name ? -1 : 1,
    ),
    registered,
  }
}

/** The tools of an agent without this one, or why it cannot be revoked. One that is revoked already stays as it is. */
export function withoutTool(
  agent: Pid,
  tools: readonly RegisteredTool[],
  name: string,
  revoked: NonNullable<RegisteredTool['revoked']>,
): { readonly tools: readonly RegisteredTool[]; readonly revoked: RegisteredTool } | Refusal {
  const was = tools.find(({ tool }) => tool.name === name)
  if (was === undefined) return unknownTool(agent, name)
  const gone = was.revoked === null ? { ...was, revoked } : was
  return { tools: tools.map((one) => (one === was ? gone : one)), revoked: gone }
}

/** An agent hands down what it may use itself. */
export function refuseHandingDown(
  agent: Pid,
  visible: readonly RegisteredTool[],
  names: readonly string[],
): Refusal | undefined {
  const missing = names.find((name) => !visible.some(({ tool }) => tool.name === name))
  return missing === undefined ? undefined : unknownTool(agent, missing)
}

export function unknownTool(agent: Pid, name: string): Refusal {
  return refusal(
    'not_found',
    `${agent} has no written tool ${name}.`,
    `List them with reeve tool list ${agent}.`,
    { name },
  )
}
