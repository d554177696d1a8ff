import type { FailureKind } from '../core/model/answer.ts'

/** The kind of failure that an HTTP status of a provider means. */
export function kindOfStatus(status: number): FailureKind | undefined {
  if (status >= 300 && status < 400) return 'redirected'
  switch (status) {
    case 401:
      return 'key_rejected'
    case 402:
      return 'quota_exhausted'
    case 403:
      return 'not_allowed'
    case 404:
      return 'model_unknown'
    case 408:
    case 504:
      return 'timeout'
    case 425:
    case 503:
    case 529:
      return 'overloaded'
    case 429:
      return 'rate_limited'
    default:
      if (status >= 500) return 'server_error'
      return status >= 400 ? 'invalid_request' : undefined
  }
}
