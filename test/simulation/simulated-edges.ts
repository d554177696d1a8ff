import { createHash, hash } from 'node:crypto'
import { ownerPolicy } from '../../src/core/authority/authorize.ts'
import { FLOOD_LIMITS } from '../../src/core/inbox/flood.ts'
import type { Json } from '../../src/core/json/json.ts'
import { pidFrom } from '../../src/core/process/pid.ts'
import type { Edges } from '../../src/kernel/edges.ts'
import type { Random } from './random.ts'

type Given = Pick<Edges, 'store' | 'clock' | 'prove' | 'onTrouble'> & {
  readonly random: Random
  readonly workspaces: Edges['workspaces'] | undefined
  /** Of a world with schedules and triggers. */
  readonly definitions: Pick<Edges, 'cron' | 'fileSets'> | undefined
}

/** The edges of a simulated kernel: everything that is random comes from the seed. */
export function simulatedEdges({ random, workspaces, definitions, ...given }: Given): Edges {
  return {
    ...given,
    random: () => random.next(),
    newPid: () => pidFrom(random.bytes(12)),
    newId: () => pidFrom(random.bytes(12)),
    pidOf: (text) => pidFrom(createHash('sha256').update(text).digest()),
    pidForKey: (actor, key) => pidFrom(createHash('sha256').update(`${actor} ${key}`).digest()),
    hash: (text) => hash('sha256', text),
    // The store's secret is truly random: a key made with it would make every run different.
    sign: (_secret, text) => hash('sha256', `simulated ${text}`).slice(0, 40),
    sameText: (a, b) => a === b,
    authorize: ownerPolicy,
    rules: {
      validate,
      maxPayloadBytes: 10_000,
      mask: (text) => text,
      maxPendingSignals: 5,
      flood: { ...FLOOD_LIMITS, burst: 2, silenceMs: 5_000 },
    },
    ...(workspaces === undefined ? {} : { workspaces }),
    ...definitions,
  }
}

/** The part of JSON Schema that these worlds use. */
function validate(schema: { readonly [key: string]: Json }, payload: Json): string | undefined {
  const { type } = schema
  return type === undefined || type === typeof payload
    ? undefined
    : `it is a ${typeof payload}, not a ${String(type)}`
}
