import type { CallFailure, FailureKind } from '../core/model/answer.ts'
import { REMEDIES } from './remedies.ts'

export function failureOf(
  kind: FailureKind,
  message: string,
  more: { readonly status?: number; readonly retryAfterMs?: number; readonly remedy?: string } = {},
): CallFailure {
  return { kind, message, remedy: REMEDIES[kind], ...more }
}
