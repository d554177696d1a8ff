import type { Right } from '../capability/right.ts'
import type { Intent } from '../process/intent.ts'

/** The right that an actor needs for an intent. */
export function rightFor(intent: Intent): Right {
  switch (intent.type) {
    case 'stop':
    case 'pause':
    case 'resume':
    case 'signal':
    case 'message':
    case 'agent_request':
      return 'signal'
    case 'change_owner':
    case 'change_cwd':
    case 'set_external_ref':
    case 'request_abandon':
      return 'write'
    case 'start':
    case 'program_started':
    case 'match':
    case 'disable_watch':
    case 'settle_readiness':
    case 'beat':
    case 'end':
    case 'append':
    case 'enter_wait':
    case 'leave_wait':
    case 'end_step':
    case 'retry_step':
    case 'park':
    case 'ask_again':
    case 'give_up_stop':
    case 'agent_act':
      return 'execute'
    case 'await_end':
      return 'read'
    case 'answer':
    case 'settle_approval':
    case 'near_limit':
    case 'confirm_stop':
    case 'clear_wake_target':
    case 'reveal':
    case 'put_back':
    case 'abandon':
    case 'give_up':
    case 'settle_stop':
    case 'take_over':
    case 'release':
      return 'admin'
  }
}
