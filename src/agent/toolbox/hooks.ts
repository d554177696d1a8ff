import { hash } from 'node:crypto'
import { messageOf } from '../../base/error-text.ts'
import {
  DEFAULT_HOOK_MS,
  type Hook,
  type HookEnd,
  type HookPlace,
  hookEnd,
  hookKey,
  hooksAt,
  hooksIn,
  MAX_HOOK_OUTPUT_BYTES,
} from '../../core/agent/hooks.ts'
import { agentSessionOf } from '../../core/agent/session.ts'
import type { AgentFile } from '../../core/agent-file/agent-file.ts'
import { RefusedError } from '../../core/errors.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import { startSpecOf } from '../../core/process/spec.ts'
import type { Work } from '../../kernel/executor.ts'
import { isFileTrusted } from '../../kernel/file-trust.ts'
import type { InputOf } from '../../verbs/reeve.ts'
import type { ToolboxParts } from './toolbox.ts'

const OUTPUT_LINES = 80
const MARK_CHARS = 12

interface Found {
  readonly hooks: readonly Hook[]
  /** Files whose hooks do not run. */
  readonly inert: readonly AgentFile[]
}

/** The hooks of agents: commands below an agent, which run at its events under its rules. They never end a turn or an agent. */
export class Hooks {
  readonly #parts: ToolboxParts

  constructor(parts: ToolboxParts) {
    this.#parts = parts
  }

  /**
   * Runs the hooks of an event, one after the other, until one blocks. The same event of the same agent runs each of them once, however
   * often its program is killed: a later attempt finds its process. Trouble is in the session log.
   */
  async run(work: Work, at: HookPlace, signal: AbortSignal): Promise<readonly HookEnd[]> {
    const { hooks, inert } = await this.#of(work.record)
    for (const { path, hash: version, problem } of at.event === 'turn_start' ? inert : []) {
      const why = problem ?? `no person has trusted this version of it: reeve trust ${path}`
      await this.#report(work, at.turn, 'hooks_inert', `${path} does nothing: ${why}`, version)
    }
    const ends: HookEnd[] = []
    for (const hook of hooksAt(hooks, at.event, at.tool)) {
      const mark = hash('sha256', JSON.stringify(hook), 'hex').slice(0, MARK_CHARS)
      const end = await this.#one(work, hook, hookKey(hook, at.place, mark), at, signal)
      ends.push(end)
      if (end.type === 'failed')
        await this.#report(work, at.turn, 'hook_failed', end.message, `${at.event}:${at.place}:${mark}`)
      if (end.type === 'blocked') break
    }
    return ends
  }

  async #one(work: Work, hook: Hook, key: string, at: HookPlace, signal: AbortSignal): Promise<HookEnd> {
    const outcome = { status: 'failed', exitCode: null } as const
    if (!this.#parts.hasCommands)
      return hookEnd(hook, { ...outcome, reason: 'this program runs no commands' }, '')
    let begun: ProcessRecord
    try {
      begun = await this.#parts.spawnAs(work, this.#request(work.record, hook, key, at))
    } catch (error) {
      // The rules of the agent deny the command, or its process was pruned: it has run.
      if (!(error instanceof RefusedError) || OF_AGENT.has(error.code)) throw error
      return hookEnd(hook, { ...outcome, reason: messageOf(error) }, '')
    }
    const waited = await this.#parts.kernel().waits.forEnd(begun.pid, { signal })
    if (waited.type !== 'done') {
      await this.#stop(work.record.pid, begun.pid, at.turn)
      signal.throwIfAborted()
      return hookEnd(hook, { ...outcome, reason: 'it was not waited for' }, '')
    }
    const { outcome: ended } = waited.value.record
    return hookEnd(
      hook,
      ended ?? { ...outcome, reason: null },
      await this.#output(work.record.pid, begun.pid),
    )
  }

  #request(agent: ProcessRecord, hook: Hook, key: string, at: HookPlace): InputOf<'spawn'> {
    const { event, turn, tool, facts } = at
    const input = { event, agent: agent.pid, turn, ...(tool === undefined ? {} : { tool }), ...facts }
    return {
      kind: 'command',
      parent: agent.pid,
      idempotencyKey: key,
      owner: { session: agentSessionOf(agent.pid) },
      lifetime: 'parent',
      label: `hook ${event}${tool === undefined ? '' : ` ${tool}`}`,
      causedBy: { source: 'hook', event, place: at.place },
      ...(agent.cwd === null ? {} : { cwd: agent.cwd }),
      ...(agent.envRef === null ? {} : { envRef: agent.envRef }),
      spec: {
        run: hook.run,
        stdin: { text: JSON.stringify(input) },
        timeoutMs: hook.timeoutMs ?? DEFAULT_HOOK_MS,
        limits: { outputBytes: MAX_HOOK_OUTPUT_BYTES },
        notify: 'none',
      },
    }
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

  /** Those of its spec, and those of trusted files near its folder. */
  async #of(agent: ProcessRecord): Promise<Found> {
    const { edges } = this.#parts.kernel()
    const files = (await edges.agentFiles?.find(agent.cwd, 'hooks')) ?? []
    const hooks = [...hooksIn(startSpecOf(agent)['hooks'])]
    const inert: AgentFile[] = []
    for (const file of files) {
      if (file.content?.kind === 'hooks' && (await isFileTrusted(edges, file)))
        hooks.push(...file.content.hooks)
      else inert.push(file)
    }
    return { hooks, inert }
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
