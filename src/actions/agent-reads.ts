import { loadParts } from '../agent/parts/stored-parts.ts'
import { notAnAgent } from '../core/agent/refusals.ts'
import { agentOfSession } from '../core/agent/session.ts'
import { type AgentState, type Part, phaseOf, type QueuedInput } from '../core/agent/state.ts'
import type { Approval } from '../core/approval/approval.ts'
import { visibilityOf } from '../core/authority/visibility.ts'
import { parseNeed } from '../core/capability/parse-need.ts'
import { RefusedError } from '../core/errors.ts'
import { BASE_IMAGE, builtInImage } from '../core/image/built-in.ts'
import { imageRefOf, imageText } from '../core/image/image.ts'
import { objectOf } from '../core/json/json.ts'
import { delegatedPaths } from '../core/lien/lien.ts'
import { parseModelId } from '../core/model/model-id.ts'
import { awaitsApproval } from '../core/process/gate.ts'
import type { Pid } from '../core/process/pid.ts'
import { hasEnded, type ProcessRecord } from '../core/process/record.ts'
import { isRefusal } from '../core/refusal.ts'
import type { Edges } from '../kernel/edges.ts'
import { explainEffect } from '../kernel/explain.ts'
import { Sums } from '../kernel/sums.ts'
import type { Page, Store } from '../store/contract.ts'
import type { OutputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, permitOnSession, readerFor } from './action.ts'
import { configurationOf, modelFacts, modelOf } from './agent-facts.ts'
import { processesBelow } from './agent-tree.ts'
import { contextTokens, turnCosts, usedBy, usedInTree } from './agent-usage.ts'
import { declaredTools } from './declared-tools.ts'
import { shownRules } from './rule-owners.ts'
import { lastTurn } from './turn-results.ts'

type NativeAgent = ProcessRecord & { readonly agent: AgentState }

/** Reads about agents that Reeve drives. */
export function agentReadActions(
  parts: ActionParts,
): ActionsFor<'agents' | 'inspectAgent' | 'agentInputs' | 'agentCost'> {
  const { kernel, actor } = parts
  const { store } = kernel.edges
  const read = readerFor(parts)
  const readAgent = async (text: string): Promise<NativeAgent> => {
    const record = await read(text)
    if (!isNative(record)) throw new RefusedError(notAnAgent(record))
    return record
  }
  return {
    async agents({ session, parent, ended, after, limit }) {
      const above = parent === undefined ? {} : { parent: [(await read(parent)).pid] }
      if (session !== undefined) await permitOnSession(parts, session)
      const page = await store.ask({
        ask: 'processes',
        filter: {
          kind: ['agent'],
          ...above,
          ...(ended ? { status: 'any' as const } : {}),
          ...(session === undefined ? {} : { sessionTree: session }),
        },
        visibleTo: visibilityOf(actor),
        newestFirst: true,
        after: after === undefined ? null : Number(after.slice(1)),
        limit,
      })
      const records = page.items.flatMap(({ record }) => (isNative(record) ? [record] : []))
      const asking = records.some(mayAsk) ? await askingAgents(store) : new Map()
      return {
        agents: records.map((record) => listed(record, mayAsk(record) ? asking.get(record.pid) : undefined)),
        next: page.next === null ? null : `c${page.next}`,
      }
    },
    async agentInputs({ pid }) {
      const { pid: found, agent } = await readAgent(pid)
      return { inputs: await waitingInputs(store, found, agent.inputs) }
    },
    async agentCost({ pid, after = 0, limit }) {
      const record = await readAgent(pid)
      const total = usedBy(record.agent)
      const [tree, page] = await Promise.all([
        usedInTree(store, record, total),
        turnCosts(store, record, { after, limit }),
      ])
      return { pid: record.pid, total, tree, ...page }
    },
    inspectAgent: async ({ pid }) => inspected(parts, await readAgent(pid)),
  }
}

function isNative(record: ProcessRecord): record is NativeAgent {
  return record.agent !== null
}

function shownPhase(record: ProcessRecord): OutputOf<'agents'>['agents'][number]['phase'] {
  return hasEnded(record) ? 'ended' : phaseOf(record)
}

/** An agent that names no image is made from the one that adds nothing. */
function shownImage(edges: Pick<Edges, 'hash'>, { spec }: ProcessRecord) {
  const { name, hash } = imageRefOf(String(spec['image'] ?? BASE_IMAGE))
  const builtIn = builtInImage(name)
  return { name, hash: hash ?? (builtIn === undefined ? '' : edges.hash(imageText(builtIn))) }
}

/** The name of an agent, and where it belongs. */
function identityOf({ pid, name, spec, identity, owner, parent }: ProcessRecord) {
  const { label } = identity
  return { pid, name, agent: String(spec['agent']), label, session: owner.session ?? null, parent }
}

/** The paths that it alone may write. They are in its spec, and it holds them exactly while it lives. */
function heldBy(record: NativeAgent): string[] | null {
  const given = hasEnded(record) ? null : delegatedPaths(record)
  return given === null ? null : [...given.paths]
}

type Listed = OutputOf<'agents'>['agents'][number]

/** An idle agent waits for nothing that keeps it from an input. */
function mayAsk(record: NativeAgent): boolean {
  return shownPhase(record) === 'running' || shownPhase(record) === 'paused'
}

/** The agents that wait for a person, or whose tool calls and commands do. */
async function askingAgents(store: Store): Promise<ReadonlyMap<Pid, Listed['waitsFor']>> {
  const asking = new Map<Pid, Listed['waitsFor']>()
  for (let after: number | null = null; ; ) {
    const page: Page<Approval> = await store.ask({
      ask: 'approvals',
      state: 'pending',
      after,
      limit: APPROVALS_PER_PAGE,
    })
    for (const { pid, request } of page.items) {
      const answer = request.type === 'question' ? 'reply' : 'approval'
      // The oldest request is the one that is answered first.
      for (const agent of [agentOfSession(request.session ?? ''), pid])
        if (agent !== null && !asking.has(agent)) asking.set(agent, answer)
    }
    after = page.next
    if (after === null) return asking
  }
}

const APPROVALS_PER_PAGE = 500

function listed(record: NativeAgent, waitsFor: Listed['waitsFor'] = null): Listed {
  const { agent, cwd, status, createdAt, updatedAt } = record
  return {
    ...identityOf(record),
    phase: shownPhase(record),
    waitsFor,
    status,
    model: modelOf(record),
    turns: agent.turns,
    queued: agent.inputs.length,
    ...usedBy(agent),
    workspace: cwd,
    paths: heldBy(record),
    createdAt,
    lastActivityAt: updatedAt,
  }
}

/** Their parts are in the log alone. An input that a turn takes meanwhile is still shown: the record was read before. */
async function waitingInputs(
  store: Store,
  pid: Pid,
  inputs: readonly QueuedInput[],
): Promise<OutputOf<'agentInputs'>['inputs']> {
  const found = await Promise.all(
    inputs.map(async ({ id, mode, asker, hasSchema, seq }) => {
      const event = await store.ask({ ask: 'eventAt', pid, seq })
      if (event === null) return []
      const { parts } = objectOf(event.payload)
      const loaded = await loadParts(store.blobs, (parts ?? []) as readonly Part[])
      return [{ input: id, mode, asker, at: event.at, hasSchema, parts: [...loaded] }]
    }),
  )
  return found.flat()
}

async function inspected(parts: ActionParts, record: NativeAgent): Promise<OutputOf<'inspectAgent'>> {
  const { kernel, agents: executor } = parts
  const { store } = kernel.edges
  const { pid, agent, cwd, status, revision } = record
  const model = modelOf(record)
  const [registered, ended, budget, capabilities, live, tools, inputs] = await Promise.all([
    store.ask({ ask: 'eventAt', pid, seq: 1 }),
    lastTurn(store, record),
    new Sums(store).of(record),
    capabilitiesOf(parts, record),
    processesBelow(store, record, {}, { own: true }),
    declaredTools(store, pid, agent),
    waitingInputs(store, pid, agent.inputs),
  ])
  const workspace = objectOf(registered?.payload)['cwd']
  const { turn } = agent
  return {
    version: parts.version(),
    ...identityOf(record),
    workspace: typeof workspace === 'string' ? workspace : null,
    cwd,
    paths: heldBy(record),
    forkedFrom: record.agent.forkedFrom ?? null,
    image: shownImage(kernel.edges, record),
    provider: parseModelId(model)?.provider ?? null,
    model,
    contextWindow: modelFacts(model, executor).contextWindow ?? null,
    contextTokens: await contextTokens(store, pid, turn, ended),
    ...usedBy(agent),
    budget,
    capabilities,
    tools,
    configuration: [...configurationOf(record, executor)],
    status,
    phase: shownPhase(record),
    position: { revision, head: agent.head, segment: agent.segment.number },
    turns: agent.turns,
    turn:
      turn === null
        ? null
        : {
            number: turn.number,
            cause: turn.cause,
            beganAt: turn.beganAt,
            calls: turn.calls,
            tools: [...turn.tools],
          },
    lastTurn: ended,
    children: live.records.filter(({ kind }) => kind !== 'command' && kind !== 'tool'),
    commands: live.records.filter(({ kind }) => kind === 'command'),
    approvals: await pendingApprovals(store, [record, ...live.records]),
    inputs,
    isWhole: live.isWhole,
  }
}

async function pendingApprovals(
  store: Store,
  records: readonly ProcessRecord[],
): Promise<OutputOf<'inspectAgent'>['approvals']> {
  const asking = records.filter((record) => awaitsApproval(record) || record.wait?.on === 'approval')
  const pages = await Promise.all(
    asking.map(({ pid }) =>
      store.ask({ ask: 'approvals', pid, state: 'pending', after: null, limit: MAX_APPROVALS }),
    ),
  )
  return pages.flatMap(({ items }) => items)
}

/** Of one process: it waits for one, and has asked once. */
const MAX_APPROVALS = 10

/** The rules that bind an agent. Their texts are shown to callers that may list all rules. */
async function capabilitiesOf(
  { kernel, actor }: ActionParts,
  { pid, cwd }: ProcessRecord,
): Promise<OutputOf<'inspectAgent'>['capabilities']> {
  const { edges } = kernel
  const need = parseNeed('read fs:.')
  const explained = need === null ? null : await explainEffect(edges, need, { actor: `process:${pid}`, cwd })
  const sets = explained === null || isRefusal(explained) ? [] : explained.sets
  const rules = sets.flatMap((set) => shownRules(edges, set))
  const inForce = rules.filter((rule) => rule.inForce)
  const countOf = (effect: string) => inForce.filter(({ rule }) => objectOf(rule)['effect'] === effect).length
  const counts = { allow: countOf('allow'), ask: countOf('ask'), deny: countOf('deny') }
  const mayList = edges.authorize(actor, 'admin', { type: 'store' }) === undefined
  return {
    closed: sets.some(({ closed }) => closed),
    ...counts,
    ...(mayList ? { rules: rules.map(({ subject, text, inForce }) => ({ subject, text, inForce })) } : {}),
  }
}
