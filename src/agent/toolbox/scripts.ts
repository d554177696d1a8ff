import { isObject } from '../../base/is-object.ts'
import { objectOf } from '../../core/json/json.ts'
import type { ProcessRow } from '../../core/process/row.ts'
import { SCRIPT_LIMITS, type ScriptLimits } from '../../core/script/limits.ts'
import type { Stretch } from '../../script/messages.ts'
import type { Page } from '../../store/contract.ts'
import {
  type FileChange,
  type ScriptToRun,
  ToolError,
  type ToolOutput,
  textOutput,
} from '../tools/agent-tool.ts'
import type { AgentTools } from './agent-tools.ts'
import type { Hooks } from './hooks.ts'
import type { RunningCall } from './running-calls.ts'
import { ScriptCalls } from './script-calls.ts'
import { ScriptRun } from './script-run.ts'
import type { ToolboxParts } from './toolbox.ts'

/** Executes scripts of agents: each in a VM of its own, with its calls as processes below it. */
export class Scripts {
  readonly #parts: ToolboxParts
  readonly #tools: AgentTools
  readonly #hooks: Hooks

  constructor(parts: ToolboxParts, tools: AgentTools, hooks: Hooks) {
    this.#parts = parts
    this.#tools = tools
    this.#hooks = hooks
  }

  /** Runs the script until it has ended, or has left memory. */
  async run(running: RunningCall, script: ScriptToRun): Promise<ToolOutput | 'parked'> {
    const { loadEngine } = await import('../../script/script-vm.ts')
    const kernel = this.#parts.kernel()
    const limits: ScriptLimits = { ...SCRIPT_LIMITS, ...this.#parts.scriptLimits }
    const calls = new ScriptCalls(this.#parts, this.#tools, this.#hooks, running)
    const run = new ScriptRun({ kernel, work: running.work, calls, engine: await loadEngine(), limits })
    const ended = await run.run(script)
    if (ended === 'parked') return ended
    return { ...outputOf(ended), ...(await this.#effects(running)) }
  }

  /** What its calls have read and changed: undo and the checks of later edits know it as if the agent had made them. */
  async #effects({ work }: RunningCall): Promise<Pick<ToolOutput, 'changes' | 'reads'>> {
    const { store } = this.#parts.kernel().edges
    const changes: FileChange[] = []
    const reads: { path: string; hash: string }[] = []
    const filter = { parent: [work.record.pid] }
    for (let after: number | null = null; ; ) {
      const page: Page<ProcessRow> = await store.ask({ ask: 'processes', filter, after, limit: PAGE })
      for (const { record } of page.items) {
        const result = objectOf(record.outcome?.result)
        changes.push(...listIn(result['changes']).filter(isChange))
        reads.push(...listIn(result['reads']).filter(isRead))
      }
      after = page.next
      if (after === null) break
    }
    return { ...(changes.length === 0 ? {} : { changes }), ...(reads.length === 0 ? {} : { reads }) }
  }
}

const PAGE = 300

function outputOf(stretch: Exclude<Stretch, { type: 'waiting' }>): ToolOutput {
  if (stretch.type === 'failed') {
    const printed = stretch.printed === '' ? '' : `\nIt had printed:\n${stretch.printed}`
    throw new ToolError('script_failed', `The script failed: ${stretch.reason}${printed}`)
  }
  const value: unknown = JSON.parse(stretch.value)
  const returned = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  const texts = [stretch.printed.trimEnd(), value === null && stretch.printed !== '' ? '' : returned]
  return textOutput(texts.filter((text) => text !== '').join('\n'))
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function isRead(value: unknown): value is { path: string; hash: string } {
  return isObject(value) && typeof value['path'] === 'string' && typeof value['hash'] === 'string'
}

function isChange(value: unknown): value is FileChange {
  if (!isObject(value)) return false
  const { path, before, after } = value
  return (
    typeof path === 'string' && (before === null || typeof before === 'string') && typeof after === 'string'
  )
}
