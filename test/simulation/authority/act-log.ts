import type { ResolvedAction } from '../../../src/core/capability/action.ts'
import { canonical } from '../../../src/core/json/canonical.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { Pid } from '../../../src/core/process/pid.ts'
import type { ProcessRecord } from '../../../src/core/process/record.ts'
import type { Ledger } from '../ledger.ts'
import { actKeys, type LastingGrant } from './act-keys.ts'
import { lineageOf } from './bound-actor.ts'

/** An act that waits for an answer, as it was asked about. */
export interface AskedAct {
  /** The subjects whose rules bound it. */
  readonly sets: readonly string[]
  readonly keys: Readonly<Record<LastingGrant, string>> | null
  /** The instances of the rules that asked. */
  readonly asks: readonly string[]
}

/** What is known about acts besides their commits: how hosts resolved their commands, and how they were asked about. */
export class ActLog {
  readonly asked = new Map<Pid, AskedAct>()
  readonly #ledger: Ledger
  readonly #resolved = new Map<Pid, { readonly spec: string; readonly resolved: ResolvedAction }[]>()

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  resolved({ pid, spec, effectiveSpec }: ProcessRecord, resolved: ResolvedAction): void {
    const known = this.#resolved.get(pid) ?? []
    this.#resolved.set(pid, [...known, { spec: canonical(effectiveSpec ?? spec), resolved }])
  }

  /** How hosts resolved a command with this spec, the last time first. */
  resolutionsOf(pid: Pid, spec: JsonObject): readonly ResolvedAction[] {
    const text = canonical(spec)
    return (this.#resolved.get(pid) ?? [])
      .flatMap((one) => (one.spec === text ? [one.resolved] : []))
      .reverse()
  }

  keysOf(record: ProcessRecord, subject: string, host: string): Readonly<Record<LastingGrant, string>> {
    const { pid, parent, spec } = record
    const above = parent === null ? [] : lineageOf(this.#ledger, parent)
    const acting = above.find(({ kind }) => kind !== 'tool')?.pid ?? null
    return actKeys({ record, resolved: this.resolutionsOf(pid, spec)[0], host, subject, above: acting })
  }
}
