import type { ProcessRecord } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'

/** A session that could name secrets for a server of its own choice would read them. So it may not, as with environments. */
export function refuseMcpSecrets({
  pid,
  originator,
}: Pick<ProcessRecord, 'pid' | 'originator'>): Refusal | undefined {
  if (!originator.startsWith('session:') && !originator.startsWith('process:')) return undefined
  return refusal(
    'denied',
    `The MCP servers of ${pid} name secrets, and ${originator} started it.`,
    'Start the agent as the host, or leave the secrets out.',
  )
}
