import type { Owner, ProcessRecord } from '../../core/process/record.ts'
import type { McpCommandSpec } from '../../core/process/spec.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'
import { keptProgram } from '../kept-rpc/kept-program.ts'
import { McpFailure } from './mcp-failure.ts'

/** An agent, and the parts that start a server of it. */
export interface KeptServerParts {
  readonly agent: ProcessRecord
  readonly name: string
  readonly spec: McpCommandSpec
  /** The scope of processes that the agent starts; that of the agent itself by default. */
  readonly owner: Owner | undefined
  readonly verbs: Pick<ReeveVerbs, 'list' | 'spawn' | 'waitFor' | 'wait'>
  /** The values of variables, with those of secrets. */
  readonly secrets: (values: NonNullable<McpCommandSpec['env']>) => Readonly<Record<string, string>>
}

/** The live server of an agent, or a new one. `isNew`: it was started now. */
export async function keptServer(
  parts: KeptServerParts,
): Promise<{ readonly record: ProcessRecord; readonly isNew: boolean }> {
  const { agent, name, spec, owner, verbs, secrets } = parts
  const kept = await keptProgram({
    agent,
    label: `mcp:${name}`,
    definition: { mcp: name },
    key: `mcp:${agent.pid}:${name}`,
    command: spec,
    owner,
    verbs,
    secrets,
  })
  if (kept === null) throw new McpFailure('unavailable', `The MCP server ${name} ended too often.`)
  return kept
}
