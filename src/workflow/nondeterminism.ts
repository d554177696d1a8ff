import { messageOf } from '../base/error-text.ts'
import type { Json } from '../core/json/json.ts'
import type { StepKind } from '../core/process/step-event.ts'

/** The report lists this many steps before the one that differs, and as many recorded steps after it. */
const MAX_LISTED = 500

/** The code made another call than the one recorded at this step index: it was changed while the process was running. */
export class Nondeterminism extends Error {
  override readonly name = 'Nondeterminism'
  /** The result in the outcome: the step index, and both lists around it. */
  readonly report: Json

  constructor(stepIndex: number, { recorded, last, met }: ComparedCalls, thrown?: unknown) {
    const from = Math.max(1, stepIndex - MAX_LISTED)
    const to = Math.min(last, stepIndex + MAX_LISTED)
    const stepIndexes = Array.from({ length: to - from + 1 }, (_, index) => from + index)
    const was = recorded.get(stepIndex) ?? 'nothing'
    const is =
      thrown === undefined ? `came to ${met[stepIndex - 1] ?? 'its end'}.` : `threw: ${messageOf(thrown)}`
    super(`At step ${stepIndex} the log has ${was}, and the code ${is}`, { cause: thrown })
    this.report = {
      stepIndex,
      message: this.message,
      from,
      recorded: stepIndexes.map((at) => recorded.get(at) ?? 'unfinished'),
      met: met.slice(from - 1, stepIndex),
    }
  }
}

/** The recorded calls by step index, the last index, and the calls that the code made. */
interface ComparedCalls {
  readonly recorded: ReadonlyMap<number, string>
  readonly last: number
  readonly met: readonly string[]
}

/** A step as the lists show it. */
export function titleOf({ kind, name }: { readonly kind: StepKind; readonly name: string }): string {
  return kind === 'sleep' ? kind : `${kind} ${name}`
}
