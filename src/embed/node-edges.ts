import { createHash, createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { type CheckPayload, compileSchema } from '../actions/json-schema/compile.ts'
import { messageOf } from '../base/error-text.ts'
import { ownerPolicy } from '../core/authority/authorize.ts'
import type { Machine } from '../core/capability/folder-subjects.ts'
import type { Preset } from '../core/capability/presets.ts'
import { FLOOD_LIMITS, type FloodLimits } from '../core/inbox/flood.ts'
import type { Json, JsonObject } from '../core/json/json.ts'
import { type Pid, pidFrom } from '../core/process/pid.ts'
import type { AgentDefaults, AgentFileReader } from '../kernel/agent-file-reader.ts'
import type { Edges } from '../kernel/edges.ts'
import type { FileSets } from '../kernel/file-sets.ts'
import type { Workspaces } from '../kernel/workspaces.ts'
import type { Store } from '../store/contract.ts'
import { systemClock } from '../store/system-clock.ts'
import type { Calendar } from './calendar.ts'
import { proveByPid } from './identity.ts'

const MAX_PAYLOAD_BYTES = 1024 * 1024
const MAX_PENDING_SIGNALS = 10_000

export const HASHES: Pick<Edges, 'hash' | 'sign' | 'sameText'> = {
  hash: (text) => hash('sha256', text, 'hex'),
  sign: (secret, text) => createHmac('sha256', secret).update(text).digest('hex').slice(0, 40),
  sameText(a, b) {
    const [one, other] = [Buffer.from(a), Buffer.from(b)]
    return one.length === other.length && timingSafeEqual(one, other)
  },
}

/** The real clock, ids, hashes and locks of a Node program, for the kernel. */
export function nodeEdges(
  store: Store,
  onTrouble: Edges['onTrouble'],
  {
    flood = FLOOD_LIMITS,
    onAudited = () => undefined,
    auditKey = () => null,
    sessionPreset,
    workspaces,
    agentFiles,
    agentDefaults,
    modelDefaults,
    machine = null,
    mask = (text) => text,
    calendar,
    fileSets,
  }: {
    readonly flood?: FloodLimits
    readonly onAudited?: () => void
    readonly auditKey?: () => string | null
    readonly sessionPreset?: Preset | undefined
    readonly workspaces?: Workspaces
    readonly agentFiles?: AgentFileReader
    readonly agentDefaults?: AgentDefaults | undefined
    readonly modelDefaults?: Edges['modelDefaults']
    readonly machine?: Machine
    readonly mask?: (text: string) => string
    readonly calendar?: Calendar
    readonly fileSets?: FileSets
  } = {},
): Edges {
  return {
    store,
    clock: systemClock,
    random: Math.random,
    newPid: randomPids(),
    newId: () => randomBytes(12).toString('hex'),
    pidOf: (text) => pidFrom(createHash('sha256').update(text).digest()),
    pidForKey: keyedPids(store),
    ...HASHES,
    // A lock is the better proof: it is visible across PID namespaces. A keeper knows no store, and holds no lock there.
    prove: (holder) =>
      // A worker may run on any machine: its death cannot be proved.
      holder.role === 'worker'
        ? 'unknown'
        : store.locks === undefined || holder.role === 'keeper'
          ? proveByPid(holder)
          : store.locks.prove(holder.id),
    cleanUpAfter: (holder) => store.locks?.clear(holder),
    authorize: ownerPolicy,
    ...(fileSets === undefined ? {} : { fileSets }),
    ...(calendar === undefined ? {} : { cron: calendar.cron, loadCron: () => calendar.load() }),
    rules: {
      validate: validator(),
      mask,
      maxPayloadBytes: MAX_PAYLOAD_BYTES,
      maxPendingSignals: MAX_PENDING_SIGNALS,
      flood,
    },
    ...(sessionPreset === undefined ? {} : { sessionPreset }),
    ...(workspaces === undefined ? {} : { workspaces }),
    ...(agentFiles === undefined ? {} : { agentFiles }),
    ...(agentDefaults === undefined ? {} : { agentDefaults }),
    ...(modelDefaults === undefined ? {} : { modelDefaults }),
    machine,
    onAudited,
    auditKey,
    onTrouble,
  }
}

/** Derives pids from the secret of the store, which callers cannot know. The secret is read once. */
function keyedPids(store: Store): Edges['pidForKey'] {
  let known: string | undefined
  const pidWith = (secret: string, text: string) =>
    pidFrom(createHmac('sha256', secret).update(text).digest())
  return (actor, key) => {
    const text = JSON.stringify(['idempotency key', actor, key])
    if (known !== undefined) return pidWith(known, text)
    return store.ask({ ask: 'secret' }).then((secret) => {
      known = secret
      return pidWith(secret, text)
    })
  }
}

/** Reads random bytes in bulk: one call per pid would be slower. */
function randomPids(): () => Pid {
  let pool = randomBytes(0)
  return () => {
    if (pool.length < 12) pool = randomBytes(12 * 256)
    const pid = pidFrom(pool)
    pool = pool.subarray(12)
    return pid
  }
}

const MAX_CACHED_SCHEMAS = 200

/** Compiles each JSON Schema once. Records share their declarations, so the cache by identity comes before the one by text. */
function validator(): Edges['rules']['validate'] {
  const byIdentity = new WeakMap<JsonObject, CheckPayload>()
  const byText = new Map<string, CheckPayload>()
  const compiled = (schema: JsonObject): CheckPayload => {
    const text = JSON.stringify(schema)
    const check = byText.get(text) ?? compiledOrUnusable(schema)
    if (byText.size >= MAX_CACHED_SCHEMAS) byText.clear()
    byText.set(text, check)
    byIdentity.set(schema, check)
    return check
  }
  return (schema: JsonObject, payload: Json) => (byIdentity.get(schema) ?? compiled(schema))(payload)
}

/** Registration refuses an unusable schema; a store may still hold one that an older version accepted. */
function compiledOrUnusable(schema: JsonObject): CheckPayload {
  try {
    return compileSchema(schema)
  } catch (error) {
    const why = messageOf(error)
    return () => `the schema cannot be used, because ${why}`
  }
}
