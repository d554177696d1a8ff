import { createHash, createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import * as z from 'zod'
import { ownersOwn } from '../core/authority/authorize.ts'
import { FLOOD_LIMITS, type FloodLimits } from '../core/inbox/flood.ts'
import type { Json, JsonObject } from '../core/json/json.ts'
import { type Pid, pidFrom } from '../core/process/pid.ts'
import type { Edges } from '../kernel/edges.ts'
import type { Store } from '../store/contract.ts'
import { systemClock } from '../store/system-clock.ts'
import { proveByPid } from './identity.ts'

const MAX_PAYLOAD_BYTES = 1024 * 1024
const MAX_PENDING_SIGNALS = 10_000

/** The real world, as the kernel meets it in a Node program. */
export function nodeEdges(
  store: Store,
  onTrouble: Edges['onTrouble'],
  flood: FloodLimits = FLOOD_LIMITS,
): Edges {
  return {
    store,
    clock: systemClock,
    random: Math.random,
    newPid: randomPids(),
    newId: () => randomBytes(12).toString('hex'),
    pidOf: (text) => pidFrom(createHash('sha256').update(text).digest()),
    hash: (text) => hash('sha256', text, 'hex'),
    sign: (secret, text) => createHmac('sha256', secret).update(text).digest('hex').slice(0, 40),
    sameText: (a, b) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b)),
    // A lock is the better witness: it is seen across PID namespaces. A keeper knows no store, and has none there.
    prove: (holder) =>
      // Wherever a worker is, all that is known of it is what it says.
      holder.role === 'worker'
        ? 'unknown'
        : store.locks === undefined || holder.role === 'keeper'
          ? proveByPid(holder)
          : store.locks.prove(holder.id),
    bury: (holder) => store.locks?.clear(holder),
    authorize: ownersOwn,
    rules: {
      validate: validator(),
      maxPayloadBytes: MAX_PAYLOAD_BYTES,
      maxPendingSignals: MAX_PENDING_SIGNALS,
      flood,
    },
    onTrouble,
  }
}

/** Random bytes come cheaper by the page than by the dozen. */
function randomPids(): () => Pid {
  let pool = randomBytes(0)
  return () => {
    if (pool.length < 12) pool = randomBytes(12 * 256)
    const pid = pidFrom(pool)
    pool = pool.subarray(12)
    return pid
  }
}

const SCHEMAS_KEPT = 1_000

/** Compiles each JSON Schema once. Records share their declarations, so identity is tried before the text. */
function validator(): Edges['rules']['validate'] {
  const byIdentity = new WeakMap<JsonObject, z.ZodType>()
  const byText = new Map<string, z.ZodType>()
  const compiled = (schema: JsonObject): z.ZodType => {
    const text = JSON.stringify(schema)
    const type = byText.get(text) ?? compile(schema)
    if (byText.size >= SCHEMAS_KEPT) byText.clear()
    byText.set(text, type)
    byIdentity.set(schema, type)
    return type
  }
  return (schema: JsonObject, payload: Json) => {
    const parsed = (byIdentity.get(schema) ?? compiled(schema)).safeParse(payload)
    return parsed.success ? undefined : z.prettifyError(parsed.error).replaceAll('\n', ' ')
  }
}

/** Throws what is wrong with a schema, so that registration can say it. */
export function compile(schema: JsonObject): z.ZodType {
  return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])
}
