import type { AvailableCommand } from '@agentclientprotocol/sdk'

/** The prompt that summarises a session. */
export const COMPACT = '/compact'

/** The slash commands of every session. */
export const COMMANDS: readonly AvailableCommand[] = [
  {
    name: COMPACT.slice(1),
    description: 'Summarises the session, so that it takes less of the context window.',
  },
]
