import { RequestError, type StopReason } from '@agentclientprotocol/sdk'
import type { OutputOf } from '../verbs/reeve.ts'

type TurnEnd = Pick<
  Extract<OutputOf<'agentLog'>['items'][number], { type: 'turn_ended' }>['payload'],
  'reason' | 'message'
>

/** How the end of a turn is answered. A turn that failed is an error, with the reason of Reeve. */
export function stopReasonOf({ reason, message }: TurnEnd): StopReason | RequestError {
  switch (reason) {
    case 'finished':
      return 'end_turn'
    case 'cancelled':
    case 'rolled_back':
      return 'cancelled'
    case 'refused':
      return 'refusal'
    case 'limit:tokensIn':
    case 'limit:tokensOut':
      return 'max_tokens'
    default:
      if (reason.startsWith('limit:')) return 'max_turn_requests'
      return new RequestError(INTERNAL, message ?? `The turn ended: ${reason.replaceAll('_', ' ')}.`, {
        reason,
      })
  }
}

const INTERNAL = -32603
