import { hasEnded, type ProcessRecord } from '../process/record.ts'

/**
 * The first turn whose hooks are to be started after this change of an agent, or the number behind its last turn if only the agent has
 * ended. Null if nothing of it has. Whether the agent has hooks is not known here: they are files of its host, too.
 */
export function owedFrom(before: ProcessRecord | null, now: ProcessRecord): number | null {
  if (before === null || before.agent === null || now.agent === null) return null
  const first = endedTurnsOf(before) + 1
  const hasTurnEnded = endedTurnsOf(now) >= first
  // An agent without a turn had no session: its start had no hooks either.
  const hasSessionEnded = hasEnded(now) && !hasEnded(before) && now.agent.turns > 0
  return hasTurnEnded || hasSessionEnded ? first : null
}

/** The number of the last turn of an agent that has ended; 0 before the first. */
export function endedTurnsOf({ agent }: Pick<ProcessRecord, 'agent'>): number {
  if (agent === null) return 0
  return agent.turn === null ? agent.turns : agent.turns - 1
}
