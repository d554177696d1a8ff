import type { InputOf } from '../verbs/reeve.ts'
import type { ChildRequest, ToolContext, ToolHandler } from '../verbs/tool-function.ts'
import type { Ledger } from './ledger.ts'

export const SESSION = 'demo'
export const CHECKS = 8
export const LETTERS = 6

/** A release, as an agent might run one: checks that may run again, letters that must not go out twice. */
export const release: InputOf<'spawn'> = {
  kind: 'tool',
  spec: { tool: 'release' },
  name: 'release',
  recovery: 'rerunnable',
  owner: { session: SESSION },
}

/** The handlers contain no code for crashes: after one, a handler runs again, and finds its children and signals. */
export function toolsOf(
  ledger: Ledger,
  /** Called when a handler is halfway through. */
  halfway: (context: ToolContext) => Promise<void>,
): Record<string, ToolHandler> {
  const spawn = async (context: ToolContext, request: ChildRequest) => {
    const child = await context.spawn(request)
    ledger.write('acknowledged', child.pid)
    return child
  }

  const outcomesOf = async (context: ToolContext, requests: readonly ChildRequest[]) => {
    const children = []
    for (const request of requests) children.push(await spawn(context, request))
    const counts: Record<string, number> = {}
    for (const { pid } of children) {
      const { status } = await context.wait(pid)
      counts[status] = (counts[status] ?? 0) + 1
    }
    return counts
  }

  const inTwoHalves = async (context: ToolContext) => {
    await context.sleep(500)
    await context.append('halfway', {}, { replayKey: 'halfway' })
    await halfway(context)
    await context.sleep(200 + 150 * Number(context.input))
    return null
  }

  const tools: Record<string, ToolHandler> = {
    async release(context) {
      const checks = await spawn(context, tool('checks', 'rerunnable'))
      const letters = await spawn(context, tool('letters', 'rerunnable'))
      await context.wait(checks.pid)
      await context.wait(letters.pid)
      const approved = await context.waitForSignal('approved')
      const publish = await spawn(context, tool('publish', 'bound'))
      const { outcome } = await context.wait(publish.pid)
      return {
        approved: approved.type === 'signal' ? approved.value : null,
        publish: outcome?.status ?? null,
      }
    },
    checks: (context) =>
      outcomesOf(context, numbered('check', CHECKS, { recovery: 'rerunnable', eventTypes: HALFWAY })),
    letters: (context) =>
      outcomesOf(context, numbered('letter', LETTERS, { recovery: 'bound', eventTypes: HALFWAY })),
    check: inTwoHalves,
    letter: inTwoHalves,
    publish: () => null,

    async preview(context) {
      await spawn(context, { ...tool('reload', 'rerunnable'), lifetime: 'parent' })
      await context.waitForSignal('quit')
      return null
    },
    reload: async (context) => void (await context.waitForSignal('quit')),
    archive: async (context) => void (await context.waitForSignal('close')),
  }
  return Object.fromEntries(Object.entries(tools).map(([name, handler]) => [name, noted(ledger, handler)]))
}

/** Writes to the ledger before the handler runs, so that each start is on record. */
function noted(ledger: Ledger, handler: ToolHandler): ToolHandler {
  return async (context) => {
    ledger.write('begun', context.pid)
    const result = await handler(context)
    ledger.write('done', context.pid)
    return result
  }
}

const HALFWAY = { halfway: { schema: { type: 'object' } } }

function tool(name: string, recovery: 'rerunnable' | 'bound'): ChildRequest {
  return { kind: 'tool', spec: { tool: name }, recovery }
}

function numbered(
  name: string,
  count: number,
  options: Pick<ChildRequest, 'recovery' | 'eventTypes'>,
): ChildRequest[] {
  return Array.from({ length: count }, (_, index) => ({
    kind: 'tool',
    spec: { tool: name, input: index + 1 },
    label: `${name} ${index + 1}`,
    ...options,
  }))
}
