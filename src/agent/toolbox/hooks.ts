import { messageOf } from '../../base/error-text.ts'
import { type Hook, type HookEnd, type HookPlace, hookEnd, hooksAt } from '../../core/agent/hooks.ts'
import { agentSessionOf } from '../../core/agent/session.ts'
import { RefusedError } from '../../core/errors.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import type { Work } from '../../kernel/executor.ts'
import { findHooks } from './find-hooks.ts'
import { hookCommand, hookMark, keyOfHook } from './hook-command.ts'
import type { ToolboxParts } from './toolbox.ts'

const OUTPUT_LINES = 80

/**
 * The hooks inside the turns of agents: commands below an agent, which run at its events under its rules. They never end a turn or an
 * agent. Those at ends are `end-hooks.ts`.
 */
export class Hooks {
  readonly #parts: ToolboxParts

  constructor(parts: ToolboxParts) {
    this.#parts = parts
  }

  /**
   * Runs the hooks of an event, one after the other, until one blocks. The same event of the same agent runs each of them once, however
   * often its program is killed: a later attempt finds its process. Trouble is in the session log. `work` is that of the agent, or of
   * a script of it.
   */
  async run(
    work: Work,
    at: HookPlace,
    signal: AbortSignal,
    agent: ProcessRecord = work.record,
  ): Promise<readonly HookEnd[]> {
    const { hooks, inert } = await findHooks(this.#parts.kernel().edges, agent)
    for (const { path, hash: version, problem } of at.event === 'turn_start' ? inert : []) {
      const why = problem ?? `no person has trusted this version of it: reeve trust ${path}`
      await this.#report(work, at.turn, 'hooks_inert', `${path} does nothing: ${why}`, version)
    }
    const ends: HookEnd[] = []
    for (const hook of hooksAt(hooks, at.event, at.tool)) {
      const end = await this.#one(work, agent, hook, at, signal)
      ends.push(end)
      // A script has no fence of its agent: its failed hooks are seen as processes below it.
      if (end.type === 'failed' && agent === work.record)
        await this.#report(
          work,
          at.turn,
          'hook_failed',
          end.message,
          `${at.event}:${at.place}:${hookMark(hook)}`,
        )
      if (end.type === 'blocked') break
    }
    return ends
  }

  async #one(
    work: Work,
    agent: ProcessRecord,
    hook: Hook,
    at: HookPlace,
    signal: AbortSignal,
  ): Promise<HookEnd> {
    const outcome = { status: 'failed', exitCode: null } as const
    if (!this.#parts.hasCommands)
      return hookEnd(hook, { ...outcome, reason: 'this program runs no commands' }, '')
    let begun: ProcessRecord
    try {
      const { pid: parent } = work.record
      const below = { parent, idempotencyKey: keyOfHook(hook, at), lifetime: 'parent' } as const
      begun = await this.#parts.spawnAs(work, { ...hookCommand(agent, hook, at), ...below })
    } catch (error) {
      // The rules of the agent deny the command, or its process was pruned: it has run.
      if (!(error instanceof RefusedError) || OF_AGENT.has(error.code)) throw error
      return hookEnd(hook, { ...outcome, reason: messageOf(error) }, '')
    }
    const waited = await this.#parts.kernel().waits.forEnd(begun.pid, { signal })
    if (waited.type !== 'done') {
      await this.#stop(agent.pid, begun.pid, at.turn)
      signal.throwIfAborted()
      return hookEnd(hook, { ...outcome, reason: 'it was not waited for' }, '')
    }
    const { outcome: ended } = waited.value.record
    return hookEnd(hook, ended ?? { ...outcome, reason: null }, await this.#output(agent.pid, begun.pid))
  }

  async #output(agent: Pid, pid: Pid): Promise<string> {
    const reeve = this.#parts.actAs(`session:${agentSessionOf(agent)}`)
    try {
      const { lines } = await reeve.log({ pid, from: 'end', limit: OUTPUT_LINES })
      return this.#parts.mask(lines.map(({ text }) => text).join('\n'))
    } catch (error) {
      // It never began, so there is no output.
      if (error instanceof RefusedError && error.code === 'no_output') return ''
      throw error
    }
  }

  /** A paused turn, and one that another holder goes on with, find their hook again. */
  async #stop(agent: Pid, pid: Pid, turn: number): Promise<void> {
    const kernel = this.#parts.kernel()
    const row = await kernel.edges.store.ask({ ask: 'process', pid: agent })
    if (row?.record.agent?.turn?.number === turn) return
    const asked = { pid, actor: `kernel:${kernel.id}`, at: kernel.edges.clock.now() } as const
    const reason = `turn ${turn} of ${agent} has ended`
    await kernel.perform({ type: 'stop', ...asked, how: 'cancel', reason, cause: null, replayKey: 'hook' })
  }

  async #report(work: Work, turn: number, code: string, message: string, key: string): Promise<void> {
    const { agents } = this.#parts.kernel()
    const text = this.#parts.mask(message)
    await agents.act(work, { type: 'report_trouble', turn, code, message: text, key: `${code}:${key}` })
  }
}

/** Refusals that are about the agent, or its holder, and not about the hook. */
const OF_AGENT: ReadonlySet<string> = new Set([
  'stale_fence',
  'turn_ended',
  'stopping',
  'already_ended',
  'unknown_pid',
])
