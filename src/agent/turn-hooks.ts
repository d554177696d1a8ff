import { turnEndedKey } from '../core/agent/act.ts'
import type { HookEvent } from '../core/agent/hooks.ts'
import type { AgentLedger } from './agent-ledger.ts'
import type { AgentParts } from './agent-parts.ts'

/** Hooks before turns. The toolbox runs those of tool calls and of ends. */
export class TurnHooks {
  readonly #ledger: AgentLedger
  readonly #parts: AgentParts

  constructor(ledger: AgentLedger, parts: AgentParts) {
    this.#ledger = ledger
    this.#parts = parts
  }

  /** Before the first model call of a turn. What the hooks print, the model reads as a note. Returns false if the turn is over or paused. */
  async start(turn: number, signal: AbortSignal): Promise<boolean> {
    return unlessAborted(signal, async () => {
      if (await this.#isFirst(turn)) await this.#tell('session_start', turn, signal)
      await this.#tell('turn_start', turn, signal)
    })
  }

  /** The first turn of this agent: the session that it continues may have had others. */
  async #isFirst(turn: number): Promise<boolean> {
    const { kernel, pid } = this.#ledger
    const ended = await kernel.edges.store.ask({ ask: 'event', pid, replayKey: turnEndedKey(turn - 1) })
    return ended === null
  }

  async #tell(event: HookEvent, turn: number, signal: AbortSignal): Promise<void> {
    const texts = await this.#run(event, turn, signal)
    if (texts.length === 0) return
    const parts = texts.map((text) => ({ type: 'text', text: `Note of a hook: ${text}` }))
    await this.#ledger.act({ type: 'add_system_item', turn, kind: 'note', parts, key: `hook:${event}` })
  }

  async #run(event: HookEvent, turn: number, signal: AbortSignal): Promise<readonly string[]> {
    const { work } = this.#ledger
    const at = { event, place: String(turn), turn, facts: {} }
    const ends = (await this.#parts.toolbox.hooks?.(work, at, signal)) ?? []
    return ends.flatMap((end) => (end.type === 'passed' && end.text !== '' ? [end.text] : []))
  }
}

async function unlessAborted(signal: AbortSignal, run: () => Promise<void>): Promise<boolean> {
  try {
    await run()
  } catch (error) {
    // The record says whether the turn is over or paused.
    if (!signal.aborted) throw error
  }
  return !signal.aborted
}
