import type { JsonObject } from '../../core/json/json.ts'
import { hasEnded, type Owner, type ProcessRecord } from '../../core/process/record.ts'
import type { McpCommandSpec } from '../../core/process/spec.ts'
import type { InputOf, ReeveVerbs } from '../../verbs/reeve.ts'
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

/** Enough for the longest answer and the messages around it. */
const KEEP_BYTES = 64 * 1024 * 1024
/** Servers that ended, and whose keys cannot be used again. */
const MAX_ENDED = 1_000

/** The live server of an agent, or a new one. `isNew`: it was started now. */
export async function keptServer(
  parts: KeptServerParts,
): Promise<{ readonly record: ProcessRecord; readonly isNew: boolean }> {
  const { agent, name, verbs } = parts
  const filter = { parent: agent.pid, kind: 'command' as const, definition: [definitionOf(name)] }
  const { processes: live } = await verbs.list({ filter, newestFirst: true, limit: 1 })
  const [running] = live
  if (running !== undefined) return { record: running.record, isNew: false }
  const { processes: ended } = await verbs.list({
    filter: { ...filter, status: 'any' },
    limit: MAX_ENDED,
  })
  for (let number = ended.length; ; number++) {
    const { type, record } = await verbs.spawn(requestOf(parts, number))
    // Older servers may have been pruned, so that the number was used before.
    if (type === 'registered' || !hasEnded(record)) return { record, isNew: true }
    if (number > ended.length + MAX_ENDED)
      throw new McpFailure('unavailable', `The MCP server ${name} ended ${number} times.`)
  }
}

function definitionOf(name: string): JsonObject {
  return { mcp: name }
}

function requestOf({ agent, name, spec, owner, secrets }: KeptServerParts, number: number): InputOf<'spawn'> {
  const { argv, run, env = {}, cwd } = spec
  const plain = Object.entries(env).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  const secret = Object.fromEntries(Object.entries(env).filter(([, value]) => typeof value !== 'string'))
  const secretNames = Object.keys(secret)
  return {
    kind: 'command',
    label: `mcp:${name}`,
    definition: definitionOf(name),
    idempotencyKey: `mcp:${agent.pid}:${name}:${number}`,
    parent: agent.pid,
    ...(owner === undefined ? {} : { owner }),
    lifetime: 'parent',
    ...(cwd === undefined ? {} : { cwd }),
    spec: {
      ...(argv === undefined ? {} : { argv: [...argv] }),
      ...(run === undefined ? {} : { run }),
      stdin: 'pipe',
      output: 'tagged',
      keepBytes: KEEP_BYTES,
      // Its end shows in the calls that it did not answer.
      notify: 'none',
      ...(plain.length === 0 ? {} : { env: Object.fromEntries(plain) }),
      ...(secretNames.length === 0 ? {} : { passEnv: secretNames }),
    },
    ...(secretNames.length === 0 ? {} : { secrets: { ...secrets(secret) } }),
  }
}
