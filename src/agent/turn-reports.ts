import { messageOf } from '../base/error-text.ts'
import { toolCallName } from '../core/agent/state.ts'
import { ReeveError } from '../core/errors.ts'
import { awaitsApproval } from '../core/process/gate.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { AgentLedger } from './agent-ledger.ts'
import type { AgentParts } from './agent-parts.ts'

/** Writes trouble into the session log: nothing of it ends the agent. */
export class TurnReports {
  readonly #ledger: AgentLedger
  readonly #parts: AgentParts

  constructor(ledger: AgentLedger, parts: AgentParts) {
    this.#ledger = ledger
    this.#parts = parts
  }

  /** The servers of the agent fail on their own, and the turn goes on without their tools. */
  async servers(turn: number): Promise<void> {
    for (const { code, message, key } of this.#parts.servers.takeAlerts(this.#ledger.pid))
      await this.#ledger.act({ type: 'report_trouble', turn, code, message: this.#parts.mask(message), key })
  }

  /**
   * A slow model or a long tool call: the turn goes on. An agent that is paused, or waits for a person alone, is silent on purpose. Returns
   * whether there was something to report.
   */
  async silence(silentMs: number): Promise<boolean> {
    const { kernel, pid } = this.#ledger
    try {
      const record = await this.#ledger.record()
      const { agent, status, revision } = record
      const turn = agent?.turn?.number
      if (turn === undefined || status === 'paused' || (await this.#waitsForPerson(record))) return false
      const message = `No event for ${silentMs / 1_000} s.`
      await this.#ledger.act({ type: 'alert', turn, alert: 'silent', message, key: `silent:${revision}` })
      return true
    } catch (error) {
      // The turn is over, or another holder drives it.
      if (!(error instanceof ReeveError)) kernel.edges.onTrouble(error, `reporting the silence of ${pid}`)
      return true
    }
  }

  /** Each open tool call waits for an approval or a reply: of its own process, or of one that it has started. */
  async #waitsForPerson({ pid, agent }: ProcessRecord): Promise<boolean> {
    const turn = agent?.turn ?? null
    if (turn === null || turn.call !== null || turn.tools.length === 0) return false
    const names = turn.tools.map(({ call, index }) => toolCallName(pid, { turn: turn.number, call, index }))
    const { items } = await this.#ledger.kernel.edges.store.ask({
      ask: 'processes',
      filter: { owner: { toolCall: names } },
      after: null,
      limit: MAX_OF_CALLS,
    })
    const asking = items.flatMap(({ record }) => (asksPerson(record) ? [record.owner.toolCall] : []))
    return names.every((name) => asking.includes(name))
  }

  /** A defect, or trouble that no rule foresees: the turn ends with it, and the agent goes on. */
  async defect(error: unknown): Promise<null> {
    const { kernel, pid } = this.#ledger
    kernel.edges.onTrouble(error, `driving ${pid}`)
    const { agent } = await this.#ledger.record()
    const turn = agent?.turn?.number
    if (turn === undefined) throw error
    const message = this.#parts.mask(messageOf(error))
    const key = message.slice(0, 100)
    await this.#ledger.act({ type: 'report_trouble', turn, code: 'internal', message, key })
    await this.#ledger.act({ type: 'end_turn', turn, reason: 'setup_failed', message })
    return null
  }
}

/** Live processes of open tool calls that are looked at. */
const MAX_OF_CALLS = 500

function asksPerson(record: ProcessRecord): boolean {
  return awaitsApproval(record) || record.wait?.on === 'approval'
}
