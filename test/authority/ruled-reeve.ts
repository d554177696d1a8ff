import type { Embedded, OutputOf, Reeve, ReeveVerbs, ToolHandler } from 'reeve'
import { expect } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import { embedTemp } from '../embed-temp.ts'

export type Approval = OutputOf<'approvals'>['approvals'][number]

/** A Reeve with the sessions s1 and s2 under rules, and tools that count how often each of them ran. */
export async function ruledReeve(...rules: readonly JsonObject[]) {
  const ran: string[] = []
  const counting =
    (name: string): ToolHandler =>
    ({ input }) => {
      ran.push(input === null ? name : `${name} ${JSON.stringify(input)}`)
      return name
    }
  const tools: Record<string, ToolHandler> = {
    deploy: counting('deploy'),
    deploy2: counting('deploy2'),
    build: counting('build'),
    /** Starts another tool, as far down as `depth` says, and answers with what became of the lowest. */
    relay: async ({ input, spawn, wait }) => {
      const { depth, tool } = input as { depth: number; tool: string }
      const child =
        depth === 0
          ? await spawn({ kind: 'tool', spec: { tool, input: null } })
          : await spawn({ kind: 'tool', spec: { tool: 'relay', input: { depth: depth - 1, tool } } })
      if (depth === 0) return child.status
      return (await wait(child.pid)).outcome?.result ?? null
    },
  }
  const reeve = await embedTemp({ tools, concurrency: 50 })
  for (const session of ['s1', 's2']) await reeve.openSession({ session })
  for (const rule of rules) await reeve.addRule({ rule })
  return { reeve, ran, agent: reeve.as('session:s1'), other: reeve.as('session:s2') }
}

export const tool = (name: string, input: string | number | null = null) =>
  ({ kind: 'tool', spec: { tool: name, input } }) as const

/** Starts a tool and waits for its end. */
export async function runs(reeve: ReeveVerbs, request: Parameters<Reeve['spawn']>[0]): Promise<string> {
  const { record } = await reeve.spawn(request)
  const waited = await reeve.wait({ pid: record.pid, timeoutMs: 30_000 })
  return waited.type === 'ended' ? waited.record.status : waited.type
}

/** The code with which it is refused, or what it was accepted as. */
export async function codeOf(asked: Promise<unknown>): Promise<string> {
  try {
    const answer = (await asked) as { record?: { status: string } }
    return `accepted: ${answer?.record?.status ?? 'done'}`
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (typeof code !== 'string') throw error
    return code
  }
}

export async function pendingIn(reeve: ReeveVerbs): Promise<readonly Approval[]> {
  return (await reeve.approvals({ limit: 100 })).approvals
}

/** The only approval that waits. */
export async function onlyPending(reeve: ReeveVerbs): Promise<Approval> {
  const [approval, ...more] = await pendingIn(reeve)
  expect(more).toEqual([])
  if (approval === undefined) throw new Error('No approval waits')
  return approval
}

/** All facts that an act without authority must leave as they are. */
export async function authorityIn(reeve: Embedded): Promise<object> {
  const { approvals } = await reeve.approvals({ state: 'any', limit: 500 })
  const { rules } = await reeve.policies()
  const { processes } = await reeve.list({ filter: { status: 'any' }, limit: 500 })
  return {
    approvals,
    rules,
    revisions: processes.map(({ record }) => `${record.pid} ${record.revision}`),
    position: reeve.position(),
  }
}
