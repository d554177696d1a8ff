import { sessionsOf } from '../session/sessions-above.ts'
import { isNativeAgent } from './state.ts'

/** The session of all processes that a native agent starts. It is below the session of the agent's owner. */
export function agentSessionOf(pid: string): string {
  return `${PREFIX}${pid}`
}

/** The agent that a session belongs to; null if it is not the session of an agent. */
export function agentOfSession(id: string): string | null {
  return id.startsWith(PREFIX) ? id.slice(PREFIX.length) : null
}

const PREFIX = 'agent:'

/** Whether a registration below this process is in the process's own session, or in one below it. */
export function isInOwnSession(
  registration: Parameters<typeof sessionsOf>[0],
  parent: Parameters<typeof isNativeAgent>[0] & { readonly pid: string },
): boolean {
  return isNativeAgent(parent) && sessionsOf(registration).includes(agentSessionOf(parent.pid))
}
