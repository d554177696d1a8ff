import { createHash, createHmac } from 'node:crypto'
import { type Authorize, ownerPolicy } from '../core/authority/authorize.ts'
import type { Clock } from '../core/clock.ts'
import { FLOOD_LIMITS } from '../core/inbox/flood.ts'
import type { Json, JsonObject } from '../core/json/json.ts'
import type { HolderRow, Proof } from '../core/lease/holder.ts'
import { pidFrom } from '../core/process/pid.ts'
import type { Edges } from '../kernel/edges.ts'
import type { Store } from '../store/contract.ts'
import { simulatedClock } from './simulated-clock.ts'

export interface TestEdgesOptions {
  readonly clock?: Clock
  /** The same seed gives the same pids, ids and random numbers. Two kernels over one store need two seeds. */
  readonly seed?: number
  /** The proof about a holder, apart from its row; by default `unknown`. */
  readonly prove?: (holder: HolderRow) => Proof
  readonly authorize?: Authorize
  readonly onTrouble?: Edges['onTrouble']
  /** Computes cron expressions; without it schedules have intervals or one time. */
  readonly cron?: Edges['cron']
  /** Without it no trigger watches files. */
  readonly fileSets?: Edges['fileSets']
}

/** Edges that behave the same in every run: simulated time, seeded randomness. Only the store is real. */
export function testEdges(store: Store, options: TestEdgesOptions = {}): Edges {
  const random = seededRandom(options.seed ?? 1)
  const bytes = (count: number) => Uint8Array.from({ length: count }, () => Math.floor(random() * 256))
  const sha256 = (text: string) => createHash('sha256').update(text)
  return {
    store,
    clock: options.clock ?? simulatedClock(),
    random,
    newPid: () => pidFrom(bytes(12)),
    newId: () => Buffer.from(bytes(12)).toString('hex'),
    pidOf: (text) => pidFrom(sha256(text).digest()),
    // Without the secret, which is truly random: the same seed must give the same pids.
    pidForKey: (actor, key) => pidFrom(sha256(JSON.stringify([actor, key])).digest()),
    hash: (text) => sha256(text).digest('hex'),
    sign: (secret, text) => createHmac('sha256', secret).update(text).digest('hex').slice(0, 40),
    sameText: (a, b) => a === b,
    prove: options.prove ?? (() => 'unknown'),
    authorize: options.authorize ?? ownerPolicy,
    ...(options.cron === undefined ? {} : { cron: options.cron }),
    ...(options.fileSets === undefined ? {} : { fileSets: options.fileSets }),
    rules: {
      validate: misfitOfType,
      mask: (text) => text,
      maxPayloadBytes: 64 * 1024,
      maxPendingSignals: 100,
      flood: FLOOD_LIMITS,
    },
    onTrouble:
      options.onTrouble ??
      ((error) => {
        throw error
      }),
  }
}

/** Numbers from 0 to 1 that depend on the seed alone. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The part of JSON Schema that the suite needs: `type` alone. */
function misfitOfType(schema: JsonObject, payload: Json): string | undefined {
  const wanted = schema['type']
  const found = payload === null ? 'null' : Array.isArray(payload) ? 'array' : typeof payload
  return wanted === undefined || wanted === found ? undefined : `${found} is not ${JSON.stringify(wanted)}`
}
