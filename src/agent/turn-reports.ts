import { messageOf } from '../base/error-text.ts'
import { ReeveError } from '../core/errors.ts'
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

  /** A slow model, a long tool call or a person who does not answer: the turn goes on. A paused agent is silent on purpose. */
  async silence(silentMs: number): Promise<void> {
    const { kernel, pid } = this.#ledger
    try {
      const { agent, status, revision } = await this.#ledger.record()
      const turn = agent?.turn?.number
      if (turn === undefined || status === 'paused') return
      const message = `No event for ${silentMs / 1_000} s.`
      await this.#ledger.act({ type: 'alert', turn, alert: 'silent', message, key: `silent:${revision}` })
    } catch (error) {
      // The turn is over, or another holder drives it.
      if (!(error instanceof ReeveError)) kernel.edges.onTrouble(error, `reporting the silence of ${pid}`)
    }
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
