import type { EndReason } from '../../core/agent/act.ts'
import type { RpcMessage } from '../kept-rpc/rpc-message.ts'

const AUTH_REQUIRED = -32_000

/** How the answer to a prompt ends the turn; null if the program has finished. `signIn`: what a person does who has not signed in. */
export function endOfPrompt(
  message: Extract<RpcMessage, { type: 'result' | 'error' }>,
  model: string,
  signIn: string,
): { readonly reason: EndReason; readonly message: string } | null {
  if (message.type === 'error') {
    const { code, message: text } = message.error
    return code === AUTH_REQUIRED
      ? {
          reason: 'setup_failed',
          message: `${model} wants a sign-in: ${text}. ${signIn}`,
        }
      : { reason: 'provider_error', message: `${model} failed: ${text} (${code}).` }
  }
  const { stopReason } = message.result
  switch (stopReason) {
    case 'end_turn':
      return null
    case 'max_tokens':
      return { reason: 'limit:maxTokens', message: `${model} has reached its limit of tokens.` }
    case 'max_turn_requests':
      return {
        reason: 'limit:turnRequests',
        message: `${model} has reached its limit of requests in a turn.`,
      }
    case 'refusal':
      return { reason: 'refused', message: `${model} refuses to go on.` }
    case 'cancelled':
      return { reason: 'provider_error', message: `${model} cancelled the turn by itself.` }
    default:
      return {
        reason: 'provider_error',
        message: `${model} stopped for an unknown reason: ${String(stopReason)}.`,
      }
  }
}
