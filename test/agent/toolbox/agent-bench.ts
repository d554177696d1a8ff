import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { ToolTimes } from '../../../src/agent/toolbox/toolbox.ts'
import type { AgentTool } from '../../../src/agent/tools/agent-tool.ts'
import { asJson, type Json, objectOf } from '../../../src/core/json/json.ts'
import type { ScriptLimits } from '../../../src/core/script/limits.ts'
import type { AgentDriver } from '../../../src/embed/agents.ts'
import { type Embedded, embedWith } from '../../../src/embed/embed.ts'
import type { EmbedOptions } from '../../../src/embed/options.ts'
import type { InputOf } from '../../../src/verbs/reeve.ts'
import { tempStore } from '../../temp-folder.ts'
import { TEST_PRESET } from '../../test-preset.ts'
import { FakeAgents, type Script } from './fake-agent.ts'

/** A result in the session log. */
export interface Answered {
  readonly call: number
  readonly index: number
  readonly isError: boolean
  readonly text: string
  readonly parts: readonly Json[]
}

/** A Reeve with fake agents over one store and one workspace; several may follow one another. */
export class AgentBench {
  readonly workspace = realpathSync(mkdtempSync(join(tmpdir(), 'reeve-toolbox-')))
  readonly store: string
  readonly scripts: Record<string, Script> = {}
  toolTimes: Partial<ToolTimes> = {}
  scriptLimits: Partial<ScriptLimits> = {}
  moreTools: readonly AgentTool[] = []

  constructor(store = tempStore()) {
    this.store = store
    onTestFinished(() => rmSync(this.workspace, { recursive: true, force: true }))
  }

  async open(
    options: Partial<EmbedOptions> = {},
    agentDriver: AgentDriver = (toolbox) => new FakeAgents(toolbox, this.scripts),
  ): Promise<Embedded> {
    const troubles: unknown[] = []
    const reeve = await embedWith(
      { store: this.store, onTrouble: (error) => troubles.push(error), ...TEST_PRESET, ...options },
      {
        agentDriver,
        toolboxParts: {
          times: this.toolTimes,
          scriptLimits: this.scriptLimits,
          moreTools: async () => this.moreTools,
        },
      },
    )
    onTestFinished(async () => {
      await reeve.close()
      expect(troubles).toEqual([])
    })
    return reeve
  }

  /** Starts an agent that follows this script, once. */
  async start(
    reeve: Embedded,
    script: Script,
    spec: Record<string, Json> = {},
    more: Pick<InputOf<'spawn'>, 'owner' | 'ceiling' | 'parent'> = {},
  ): Promise<string> {
    const name = `agent${Object.keys(this.scripts).length}`
    this.scripts[name] = script
    const { record } = await reeve.spawn({
      kind: 'agent',
      cwd: this.workspace,
      spec: { agent: name, model: 'fake/model', goal: 'go', once: true, ...spec },
      ...more,
    })
    return record.pid
  }

  /** Runs a script to its end, and returns the results in the order of the calls. */
  async results(reeve: Embedded, script: Script, spec: Record<string, Json> = {}): Promise<Answered[]> {
    const pid = await this.start(reeve, script, spec)
    await ended(reeve, pid)
    return answers(reeve, pid)
  }
}

export async function ended(reeve: Embedded, pid: string): Promise<void> {
  const waited = await reeve.wait({ pid, timeoutMs: 60_000 })
  expect(waited.type).toBe('ended')
}

/** The results in the session log of an agent, in the order of the calls. */
export async function answers(reeve: Embedded, pid: string): Promise<Answered[]> {
  const { events } = await reeve.events({ pid, limit: 1_000 })
  const found = events
    .filter(({ type }) => type === 'tool_answered')
    .map(({ payload }) => objectOf(asJson(Object(payload))))
  return found
    .map(({ call, index, isError, parts }) => {
      const list: readonly Json[] = Array.isArray(parts) ? parts : []
      const text = list.map((part) => String(objectOf(part)['text'] ?? '')).join('')
      return { call: Number(call), index: Number(index), isError: isError === true, text, parts: list }
    })
    .sort((a, b) => a.call - b.call || a.index - b.index)
}
