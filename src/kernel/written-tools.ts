import { isNativeAgent } from '../core/agent/state.ts'
import { emptySet } from '../core/capability/rule-set.ts'
import type { Change } from '../core/change.ts'
import type { Pid } from '../core/process/pid.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import { startSpecOf } from '../core/process/spec.ts'
import { isRefusal, type Refusal } from '../core/refusal.ts'
import {
  type RegisteredTool,
  toolsSubject,
  type WrittenTool,
  withoutTool,
  withTool,
  writtenToolText,
} from '../core/tool/written-tool.ts'
import { know } from '../store/contract.ts'
import type { Edges } from './edges.ts'

/** A written tool with the agent that it was registered for. */
export interface VisibleTool extends RegisteredTool {
  readonly owner: Pid
}

/** Registers a tool that an agent has written. `approval`: of the person who read it; null if a rule allows it. */
export async function registerTool(
  edges: Edges,
  agent: Pid,
  tool: WrittenTool,
  approval: string | null,
): Promise<RegisteredTool | Refusal> {
  const hash = edges.hash(writtenToolText(tool))
  const by = `process:${agent}` as const
  return changeTools(
    edges,
    agent,
    { actor: by, action: 'registerTool', hash, tool: tool.name },
    (tools, at) => {
      const changed = withTool(agent, tools, { tool, hash, at, by, approval })
      return isRefusal(changed) ? changed : { tools: changed.tools, answer: changed.registered }
    },
  )
}

/** Takes a tool from its agent and from all that it was handed to. Calls that run go on until they are claimed again. */
export async function revokeTool(
  edges: Edges,
  agent: Pid,
  name: string,
  { actor, reason }: { readonly actor: Actor; readonly reason: string | null },
): Promise<RegisteredTool | Refusal> {
  return changeTools(edges, agent, { actor, action: 'revokeTool', hash: null, tool: name }, (tools, at) => {
    const changed = withoutTool(agent, tools, name, { at, by: actor, reason })
    return isRefusal(changed) ? changed : { tools: changed.tools, answer: changed.revoked }
  })
}

/** The tools that were registered for an agent, revoked ones included. */
export async function toolsOf({ store }: Pick<Edges, 'store'>, agent: Pid): Promise<readonly VisibleTool[]> {
  const set = await store.ask({ ask: 'ruleSet', subject: toolsSubject(agent) })
  return (set?.tools ?? []).map((one) => ({ ...one, owner: agent }))
}

/** The written tools that an agent may call: its own, and those that agents above it have handed down. */
export async function visibleTools(
  edges: Pick<Edges, 'store'>,
  agent: ProcessRecord,
): Promise<readonly VisibleTool[]> {
  const own = (await toolsOf(edges, agent.pid)).filter(({ revoked }) => revoked === null)
  const { writtenTools } = startSpecOf(agent)
  const handed = Array.isArray(writtenTools) ? writtenTools : []
  if (handed.length === 0 || agent.parent === null) return own
  const parent = await edges.store.ask({ ask: 'process', pid: agent.parent })
  if (parent === null || !isNativeAgent(parent.record)) return own
  const above = await visibleTools(edges, parent.record)
  const isOwn = (name: string) => own.some(({ tool }) => tool.name === name)
  return [...own, ...above.filter(({ tool }) => handed.includes(tool.name) && !isOwn(tool.name))]
}

async function changeTools(
  edges: Edges,
  agent: Pid,
  entry: {
    readonly actor: Actor
    readonly action: string
    readonly hash: string | null
    readonly tool: string
  },
  change: (
    tools: readonly RegisteredTool[],
    at: number,
  ) => { readonly tools: readonly RegisteredTool[]; readonly answer: RegisteredTool } | Refusal,
): Promise<RegisteredTool | Refusal> {
  const subject = toolsSubject(agent)
  const at = edges.clock.now()
  const answer = await edges.store.write<RegisteredTool | Refusal>(function* () {
    const was = yield* know({ ask: 'ruleSet', subject })
    const before = was?.tools ?? []
    const changed = change(before, at)
    if (isRefusal(changed)) return { answer: changed, changes: [] }
    if (before.includes(changed.answer)) return { answer: changed.answer, changes: [] }
    const { actor, action, hash, tool } = entry
    const decision = action === 'revokeTool' ? 'revoked' : 'granted'
    const inputs = { tool, ...(hash === null ? {} : { hash }) }
    const changes: Change[] = [
      { type: 'rule_set', was, ruleSet: { ...(was ?? emptySet(subject)), tools: changed.tools } },
      {
        type: 'audit',
        entry: {
          at,
          actor,
          action,
          target: subject,
          decision,
          rule: null,
          reason: null,
          inputs,
          trace: null,
        },
      },
    ]
    return { answer: changed.answer, changes }
  })
  edges.onAudited?.()
  return answer
}
