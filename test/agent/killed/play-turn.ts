import { appendFileSync } from 'node:fs'
import { defineTool, type Embedded, type ToolDefinition } from 'reeve'
import * as z from 'zod'
import { GOAL, INPUTS, INPUTS_AT_CALL, TURNS } from './turn-script.ts'

export interface TurnPlan {
  /** Of the agent, its model and its requests. */
  readonly name: string
  /** The provider. */
  readonly url: string
  /** The file that the tools write a line to: counted outside of Reeve. */
  readonly effects: string
  /** A planted bug: the first note kills its program, and the next one runs it again. */
  readonly repeatsNotes: boolean
}

/** What `embed` needs for the agent of this plan. `afterNote`: called with each effect of a note. */
export function turnOptions(
  { url, effects, repeatsNotes }: TurnPlan,
  afterNote: () => void = () => undefined,
) {
  const tool = (name: string, recovery: 'bound' | 'rerunnable'): ToolDefinition =>
    defineTool({
      name,
      description: name,
      input: z.object({ at: z.string() }),
      recovery,
      run: ({ at }) => {
        appendFileSync(effects, `${at}\n`)
        if (name === 'note') afterNote()
        return `done ${at}`
      },
    })
  return {
    tools: [
      tool('note', repeatsNotes ? 'rerunnable' : 'bound'),
      tool('look', 'rerunnable'),
      tool('deploy', 'bound'),
    ],
    modelOptions: { providers: { strict: { type: 'openai-compatible', baseURL: `${url}/v1` } } },
  } as const
}

/**
 * The clients of the agent, until it has done everything: they start it, approve deployments, and give it two inputs. Each request is repeated
 * by the clients of the next program, as a client does that got no answer. Returns the pid of the agent.
 */
export async function playTurn(reeve: Embedded, { name }: TurnPlan): Promise<string> {
  await reeve.addRule({ rule: { id: 'deploy', effect: 'ask', resource: 'tool:deploy' } }).catch(unlessTaken)
  const spec = { agent: 'coder', model: `strict/${name}`, goal: GOAL }
  const { record } = await reeve.spawn({ kind: 'agent', idempotencyKey: name, spec })
  const { pid } = record
  const over = new AbortController()
  const approving = approveAll(reeve, over.signal)
  await modelCallBegun(reeve, pid, INPUTS_AT_CALL)
  for (const input of INPUTS) await reeve.runAgent({ pid, ...input })
  await reeve.waitAgent({ pid, turn: TURNS })
  await reeve.waitAgent({ pid })
  over.abort()
  await approving
  return pid
}

/** A person who approves every request. */
async function approveAll(reeve: Embedded, signal: AbortSignal): Promise<void> {
  const approvePending = async () => {
    const { approvals } = await reeve.approvals({})
    for (const { id } of approvals) await reeve.approve({ id })
  }
  const after = reeve.position()
  await approvePending()
  for await (const { type } of reeve.follow({ after }, { signal }))
    if (type === 'approval_requested') await approvePending()
}

async function modelCallBegun(reeve: Embedded, pid: string, call: number): Promise<void> {
  const isBegun = ({ type, payload }: { readonly type: string; readonly payload: unknown }) =>
    type === 'model_call_begun' && Number(Object(payload).call) >= call
  const after = reeve.position()
  const { events } = await reeve.events({ pid, limit: 1_000 })
  if (events.some(isBegun)) return
  for await (const event of reeve.follow({ after })) if (event.pid === pid && isBegun(event)) return
}

/** A killed program had added the rule. */
function unlessTaken(error: unknown): void {
  if (Object(error).code !== 'conflict') throw error
}
