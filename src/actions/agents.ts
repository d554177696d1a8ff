import { storeParts } from '../agent/parts/stored-parts.ts'
import { messageOf } from '../base/error-text.ts'
import { isOutsideModel } from '../core/agent/outside.ts'
import { invalidRequest } from '../core/agent/refusals.ts'
import { type AgentAnswer, requestKey } from '../core/agent/request.ts'
import { RefusedError } from '../core/errors.ts'
import type { JsonObject } from '../core/json/json.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import type { CallerRequest } from '../kernel/agents.ts'
import { refuseAct } from '../kernel/audit.ts'
import { writeWithBlobs } from '../kernel/blobs.ts'
import { refuseModelByRules } from '../kernel/model-rules.ts'
import type { OutputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, finderFor, readerFor } from './action.ts'
import { modelOf } from './agent-facts.ts'
import { admittedParts, type Content } from './input-parts.ts'
import { compileSchema } from './json-schema/compile.ts'
import { checkJson } from './parse.ts'

type Method =
  | 'runAgent'
  | 'resumeAgent'
  | 'cancelTurn'
  | 'pauseAgent'
  | 'notifyAgent'
  | 'compactAgent'
  | 'shutDownAgent'
  | 'configureAgent'
  | 'allowAgent'
  | 'editInput'
  | 'removeInput'
  | 'reorderInputs'

type WithoutParts<Request> = Request extends { readonly parts: unknown } ? Omit<Request, 'parts'> : never
/** A request whose content is still to be resolved. */
type ContentRequest = WithoutParts<CallerRequest>

/** The methods of agents. The rules are in `core/agent/`. */
export function agentActions(parts: ActionParts): ActionsFor<Method> {
  const { kernel, actor } = parts
  const find = finderFor(parts)
  const idOr = (id: string | undefined) => id ?? kernel.edges.newId()
  const request = async <Name extends Method>(pid: string, asked: CallerRequest) =>
    answerOf<Name>(await kernel.agents.request(await find(pid), actor, asked))
  /** A request with content: large parts are blobs, which are in the store before the request. */
  const requestWith = async <Name extends Method>(pid: string, content: Content, asked: ContentRequest) => {
    const stored = storeParts(await admittedParts(parts, pid, asked, content))
    return writeWithBlobs(kernel.edges, stored.blobs, () =>
      request<Name>(pid, { ...asked, parts: stored.parts }),
    )
  }
  return {
    async runAgent({ pid, id: given, text, parts: list, schema, ...more }) {
      if (schema !== undefined) checkSchema(schema)
      const asked = {
        type: 'run',
        id: idOr(given),
        ...more,
        ...(schema === undefined ? {} : { schema }),
      } as const
      return requestWith<'runAgent'>(pid, { text, parts: list }, asked)
    },
    resumeAgent: ({ pid, id }) => request<'resumeAgent'>(pid, { type: 'resume', id: idOr(id) }),
    cancelTurn: ({ pid, id, ...more }) =>
      request<'cancelTurn'>(pid, { type: 'cancel_turn', id: idOr(id), ...more }),
    pauseAgent: ({ pid, id }) => request<'pauseAgent'>(pid, { type: 'pause', id: idOr(id) }),
    async notifyAgent({ pid, id: given, cause, ...content }) {
      const asked = { type: 'notify', id: idOr(given), cause } as const
      return requestWith<'notifyAgent'>(pid, content, asked)
    },
    compactAgent: ({ pid, id, ...more }) =>
      request<'compactAgent'>(pid, { type: 'compact', id: idOr(id), ...more }),
    async shutDownAgent({ pid, id, ...more }) {
      await joinMemory(parts, pid)
      return request<'shutDownAgent'>(pid, { type: 'shutdown', id: idOr(id), ...more })
    },
    async configureAgent({ pid, id, ...changes }) {
      const asked = { type: 'configure', id: idOr(id), ...changes } as const
      await refuseModel(parts, pid, asked)
      return request<'configureAgent'>(pid, asked)
    },
    async allowAgent({ pid, id, amounts }) {
      const found = await find(pid)
      return answerOf<'allowAgent'>(await kernel.agents.allow(found, actor, { id: idOr(id), amounts }))
    },
    async editInput({ pid, id: given, input, ...content }) {
      const asked = { type: 'edit_input', id: idOr(given), input } as const
      return requestWith<'editInput'>(pid, content, asked)
    },
    removeInput: ({ pid, id, input }) =>
      request<'removeInput'>(pid, { type: 'remove_input', id: idOr(id), input }),
    reorderInputs: ({ pid, id, inputs }) =>
      request<'reorderInputs'>(pid, { type: 'reorder_inputs', id: idOr(id), inputs }),
  }
}

/** What the last turns left is in long-term memory before an idle agent ends. A turn that is under way is cancelled, and not waited for. */
async function joinMemory(parts: ActionParts, pid: string): Promise<void> {
  const { kernel, agents } = parts
  if (agents === undefined) return
  const row = await kernel.edges.store.ask({ ask: 'process', pid: await finderFor(parts)(pid) })
  if (row !== null && row.record.agent?.turn === null && row.record.outcome === null)
    await agents.joinMemory(row.record)
}

/** Each method has answers of its own; the same id with another method is refused. */
function answerOf<Name extends Method>(answer: AgentAnswer): OutputOf<Name> {
  const untyped: unknown = answer
  return untyped as OutputOf<Name>
}

/** A model that cannot be opened is refused now, not at the next turn. A repeated request gets the answer of the first one. */
async function refuseModel(
  parts: ActionParts,
  pid: string,
  asked: Extract<CallerRequest, { type: 'configure' }>,
): Promise<void> {
  const agent = await readerFor(parts, 'agent_request')(pid)
  if (agent.agent === null) return
  const changed = refuseOtherSort(agent, asked.model)
  if (changed !== undefined) throw new RefusedError(changed)
  const { edges } = parts.kernel
  const denied = await refuseModelByRules(edges, agent.pid, asked.model, 'refused')
  const refused = denied ?? (await parts.agents?.refuseModel(agent, asked.model))
  if (refused === undefined) return
  const { store } = edges
  const replayKey = requestKey(asked)
  if ((await store.ask({ ask: 'event', pid: agent.pid, replayKey })) !== null) return
  if (denied !== undefined) {
    const { actor } = parts
    await refuseAct(edges, denied, { actor, action: 'configureAgent', target: `process:${agent.pid}` })
  }
  const { code: problem, message, remedy } = refused
  throw new RefusedError(refusal('invalid_request', `${agent.pid}: ${message}`, remedy, { problem }))
}

/** The model of an outside agent is its program: it cannot become another one, and no other agent can become one. */
function refuseOtherSort(agent: ProcessRecord, model: string): Refusal | undefined {
  const now = modelOf(agent)
  if (now === model || (!isOutsideModel(now) && !isOutsideModel(model))) return undefined
  return invalidRequest(
    agent,
    `its model cannot change from ${now} to ${model}, because one of them is a program of its own`,
    'Start another agent.',
  )
}

/** An unusable schema is refused now, not at the end of the turn. */
function checkSchema(schema: JsonObject): void {
  checkJson(schema, 'schema')
  try {
    compileSchema(schema)
  } catch (error) {
    throw new RefusedError(
      refusal(
        'invalid_input',
        `The schema of the result cannot be used: ${messageOf(error).replace(/\.$/, '')}.`,
        'Correct the schema. Patterns are RE2: no look-around, no back-references.',
        { field: 'schema' },
      ),
    )
  }
}
