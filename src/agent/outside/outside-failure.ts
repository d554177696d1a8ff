import type { EndReason } from '../../core/agent/act.ts'

/** Why the turn of an outside agent cannot go on. */
export class OutsideFailure extends Error {
  override readonly name = 'OutsideFailure'
  readonly reason: EndReason

  constructor(reason: EndReason, message: string) {
    super(message)
    this.reason = reason
  }
}
