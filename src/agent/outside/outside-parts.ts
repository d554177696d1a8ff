import type { JsonObject } from '../../core/json/json.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import type { SecretOrText } from '../../core/process/spec.ts'
import type { ReeveVerbs } from '../../verbs/reeve.ts'

/** The parts that composition gives to the executor of outside agents. */
export interface OutsideParts {
  /** The verbs in the name of an agent. */
  verbsOf(agent: ProcessRecord): ReeveVerbs
  /** Opens the session of an agent, which owns everything below it. Returns its id. */
  openSession(agent: ProcessRecord): Promise<string>
  /** The values of variables, with those of secrets. */
  secrets(values: Readonly<Record<string, SecretOrText>>): Readonly<Record<string, string>>
  /** Reeve's own MCP server, as a program starts it for this session and this agent; null without a daemon. */
  ownServer(session: string, agent: string): JsonObject | null
  readonly version: string
  readonly times?: Partial<OutsideTimes>
}

/** Times of outside agents, in milliseconds. */
export interface OutsideTimes {
  /** How long a program may take to answer each request of the handshake: some install themselves first. */
  readonly startMs: number
  /** How long opening a program may take, before the session says that it waits. */
  readonly slowMs: number
  /** How long a program may go on after its turn was cancelled. Then it is killed. */
  readonly cancelMs: number
}

export const OUTSIDE_TIMES: OutsideTimes = { startMs: 120_000, slowMs: 10_000, cancelMs: 20_000 }
