import { type Account, usedUp } from './account.ts'
import type { Counted } from './amounts.ts'

/** What a call of a model is charged for. */
const MODEL_LIMITS = ['modelCalls', 'tokensIn', 'tokensOut', 'cost'] as const satisfies readonly Counted[]

/** A limit that keeps a process from calling a model, because nothing of it is left; null if there is none. */
export function modelLimitUsedUp(account: Account | null): Counted | null {
  return account === null ? null : usedUp(account, MODEL_LIMITS)
}
