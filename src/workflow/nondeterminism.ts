import { messageOf } from '../base/error-text.ts'
import type { Json } from '../core/json/json.ts'
import type { StepKind } from '../core/process/event.ts'

/** So many steps before the one that differs are listed, and as many of the recorded ones after it. */
const LISTED = 500

/** The code came to another step than the one that is on record at this place: it was changed under a running process. */
export class Nondeterminism extends Error {
  override readonly name = 'Nondeterminism'
  /** What the outcome says: the place, and both lists around it. */
  readonly report: Json

  constructor(place: number, { recorded, last, met }: Compared, thrown?: unknown) {
    const from = Math.max(1, place - LISTED)
    const listed = Math.min(last, place + LISTED)
    const places = Array.from({ length: listed - from + 1 }, (_, index) => from + index)
    const was = recorded.get(place) ?? 'nothing'
    const is =
      thrown === undefined ? `came to ${met[place - 1] ?? 'its end'}.` : `threw: ${messageOf(thrown)}`
    super(`At step ${place} the log has ${was}, and the code ${is}`, { cause: thrown })
    this.report = {
      place,
      message: this.message,
      from,
      recorded: places.map((at) => recorded.get(at) ?? 'unfinished'),
      met: met.slice(from - 1, place),
    }
  }
}

/** What the log has by place, up to the last, and what the code came to. */
interface Compared {
  readonly recorded: ReadonlyMap<number, string>
  readonly last: number
  readonly met: readonly string[]
}

/** A step as these lists have it. */
export function titleOf({ kind, name }: { readonly kind: StepKind; readonly name: string }): string {
  return kind === 'sleep' ? kind : `${kind} ${name}`
}
