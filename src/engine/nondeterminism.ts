import type { Json } from '../core/json/json.ts'
import type { StepKind } from '../core/process/event.ts'

/** So many steps before the one that differs are listed, and as many of the recorded ones after it. */
const LISTED = 500

/** The code came to another step than the one that is on record at this place: it was changed under a running process. */
export class Nondeterminism extends Error {
  override readonly name = 'Nondeterminism'
  /** What the outcome says: the place, and both lists around it. */
  readonly report: Json

  constructor(place: number, recorded: ReadonlyMap<number, string>, met: readonly string[]) {
    const from = Math.max(1, place - LISTED)
    const last = Math.min(Math.max(...recorded.keys()), place + LISTED)
    const places = Array.from({ length: last - from + 1 }, (_, index) => from + index)
    const was = recorded.get(place) ?? 'nothing'
    const is = met[place - 1] ?? 'its end'
    super(`At step ${place} the log has ${was}, and the code came to ${is}.`)
    this.report = {
      place,
      message: this.message,
      from,
      recorded: places.map((at) => recorded.get(at) ?? 'unfinished'),
      met: met.slice(from - 1, place),
    }
  }
}

/** A step as these lists have it. */
export function titleOf({ kind, name }: { readonly kind: StepKind; readonly name: string }): string {
  return kind === 'sleep' ? kind : `${kind} ${name}`
}
