import type { JsonObject } from '../../core/json/json.ts'
import { hasEnded, type Owner, type ProcessRecord } from '../../core/process/record.ts'
import type { SecretOrText } from '../../core/process/spec.ts'
import type { InputOf, ReeveVerbs } from '../../verbs/reeve.ts'

/** A program that speaks JSON-RPC on its standard input and output, as a command below an agent. */
export interface KeptProgram {
  readonly agent: ProcessRecord
  readonly label: string
  /** Tells the programs of an agent apart. */
  readonly definition: JsonObject
  /** The start of the keys of its incarnations. */
  readonly key: string
  readonly command: {
    readonly argv?: readonly string[]
    readonly run?: string
    readonly env?: { readonly [name: string]: SecretOrText }
    readonly cwd?: string
  }
  /** The scope of processes that the agent starts; that of the agent itself by default. */
  readonly owner: Owner | undefined
  readonly verbs: Pick<ReeveVerbs, 'list' | 'spawn'>
  /** The values of variables, with those of secrets. */
  readonly secrets: (values: Readonly<Record<string, SecretOrText>>) => Readonly<Record<string, string>>
}

/** Enough for the longest answer and the messages around it. */
const KEEP_BYTES = 64 * 1024 * 1024
/** Incarnations that ended, and whose keys cannot be used again. */
const MAX_ENDED = 1_000

/** The live incarnation of a program, or a new one. `isNew`: it was started now. Null: it ended too often. */
export async function keptProgram(
  program: KeptProgram,
): Promise<{ readonly record: ProcessRecord; readonly isNew: boolean } | null> {
  const { agent, definition, verbs } = program
  const filter = { parent: agent.pid, kind: 'command' as const, definition: [definition] }
  const { processes: live } = await verbs.list({ filter, newestFirst: true, limit: 1 })
  const [running] = live
  if (running !== undefined) return { record: running.record, isNew: false }
  const { processes: ended } = await verbs.list({
    filter: { ...filter, status: 'any' },
    limit: MAX_ENDED,
  })
  for (let number = ended.length; ; number++) {
    const { type, record } = await verbs.spawn(requestOf(program, number))
    // Older ones may have been pruned, so that the number was used before.
    if (type === 'registered' || !hasEnded(record)) return { record, isNew: true }
    if (number > ended.length + MAX_ENDED) return null
  }
}

const OF_MODELS = ['modelCalls', 'tokensIn', 'tokensOut', 'cost'] as const

/** The agent calls models, or is charged for the calls of its program: the program takes no share of them away. */
function keptByAgent({ limits: { allowance = {} } }: ProcessRecord): Pick<InputOf<'spawn'>, 'allowance'> {
  const kept = OF_MODELS.filter((name) => allowance[name] !== undefined)
  return kept.length === 0 ? {} : { allowance: Object.fromEntries(kept.map((name) => [name, 0])) }
}

function requestOf(program: KeptProgram, number: number): InputOf<'spawn'> {
  const { agent, label, definition, key, command, owner, secrets } = program
  const { argv, run, env = {}, cwd } = command
  const plain = Object.entries(env).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  const secret = Object.fromEntries(Object.entries(env).filter(([, value]) => typeof value !== 'string'))
  const secretNames = Object.keys(secret)
  return {
    kind: 'command',
    label,
    definition,
    idempotencyKey: `${key}:${number}`,
    parent: agent.pid,
    ...(owner === undefined ? {} : { owner }),
    lifetime: 'parent',
    ...keptByAgent(agent),
    ...(cwd === undefined ? {} : { cwd }),
    spec: {
      ...(argv === undefined ? {} : { argv: [...argv] }),
      ...(run === undefined ? {} : { run }),
      stdin: 'pipe',
      output: 'tagged',
      keepBytes: KEEP_BYTES,
      // Its end shows in the requests that it did not answer.
      notify: 'none',
      ...(plain.length === 0 ? {} : { env: Object.fromEntries(plain) }),
      ...(secretNames.length === 0 ? {} : { passEnv: secretNames }),
    },
    ...(secretNames.length === 0 ? {} : { secrets: { ...secrets(secret) } }),
  }
}
