import { branchFrom } from '../agent/parts/branch-point.ts'
import { refuseTools } from '../core/agent/delegation.ts'
import { isReadOnly, refuseFork, viewAt } from '../core/agent/fork.ts'
import { invalidRequest } from '../core/agent/refusals.ts'
import type { AgentState } from '../core/agent/state.ts'
import { RefusedError } from '../core/errors.ts'
import type { Image } from '../core/image/image.ts'
import type { JsonObject } from '../core/json/json.ts'
import { delegatedPaths, pathsInSpec } from '../core/lien/lien.ts'
import { awaitsApproval } from '../core/process/gate.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { restartRequest } from '../core/process/restart-request.ts'
import { startSpecOf } from '../core/process/spec.ts'
import { isRefusal, type Refusal, refusal } from '../core/refusal.ts'
import { refuseAct } from '../kernel/audit.ts'
import { refuseModelByRules } from '../kernel/model-rules.ts'
import type { OutputOf, ParsedInputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, readerFor, throwIfRefused } from './action.ts'
import type { AgentFacts } from './agent-facts.ts'
import { registerInWorktrees } from './register-in-worktrees.ts'
import { parentGone } from './restore-agent.ts'
import { registerAll, spawnAnswer } from './spawn.ts'
import { ceilingOf, imageOf, labelOf, whenUp } from './spawn-agent.ts'

type Input = ParsedInputOf<'forkAgent'>
type Source = ProcessRecord & { readonly agent: AgentState }

/** Agents whose sessions branch from those of others. The rules are in `core/agent/fork.ts`. */
export function forkAgentActions(parts: ActionParts): ActionsFor<'forkAgent'> {
  const { kernel, actor, commands, agents } = parts
  const { edges } = kernel
  const read = readerFor(parts, 'forkAgent')
  return {
    async forkAgent({ pid, ...input }): Promise<OutputOf<'forkAgent'>> {
      const source = await read(pid)
      const existing = await forkedBefore(parts, source, input)
      if (existing !== null) return { type: 'existing', record: existing }
      if (!isSource(source)) throw new RefusedError(refuseFork(source) ?? noAgents())
      throwIfRefused(refuseFork(source))
      if (agents === undefined) throw new RefusedError(noAgents())
      if (!kernel.isHere(source.placement)) throw new RefusedError(elsewhere(source))
      const { at, mode } = input
      const branch = await branchFrom(edges.store, source, { at, mode })
      if (isRefusal(branch)) throw new RefusedError(branch)
      const place = await placeOf(parts, agents, source)
      const made = await requestOf(parts, agents, { source, place, input })
      const request = { ...made, view: viewAt(source.pid, branch, input) }
      const asked = { request, hasWorktree: input.workspace !== undefined }
      const [registered] = await registerInWorktrees(parts, place.near, [asked], (placed) =>
        registerAll(kernel, commands, actor, placed, { more: [{ branch }] }),
      )
      const { record } = spawnAnswer(registered)
      if (awaitsApproval(record)) return { type: 'asked', record }
      return { type: 'started', record: await whenUp(kernel, record) }
    },
  }
}

function isSource(record: ProcessRecord): record is Source {
  return record.agent !== null
}

/** The fork of an earlier request with the same key. */
async function forkedBefore(
  { kernel: { edges }, actor }: ActionParts,
  { pid: source }: ProcessRecord,
  { idempotencyKey, goal }: Omit<Input, 'pid'>,
): Promise<ProcessRecord | null> {
  if (idempotencyKey === undefined) return null
  const pid = await edges.pidForKey(actor, idempotencyKey)
  const row = await edges.store.ask({ ask: 'process', pid })
  if (row === null) return null
  const { record } = row
  throwIfRefused(edges.authorize(actor, 'read', { type: 'process', record }))
  if (record.agent?.forkedFrom?.pid === source && record.spec['goal'] === goal) return record
  throw new RefusedError(
    refusal(
      'conflict',
      `${record.pid} is already registered with another goal, or branches from another agent.`,
      'Repeat the first request exactly, or use another key for another fork.',
    ),
  )
}

/** Where a fork goes in the tree. */
interface Place {
  /** The agent whose rules, workspace and tools bound those of the fork. */
  readonly near: ProcessRecord
  readonly request: JsonObject
  /** Of a fork without an agent above it: the allowance that it gets if the request names none. */
  readonly allowance: ProcessRecord['limits']['allowance']
}

/** An agent gets its fork as a child. The fork of a person is beside the agent that it branches from, so that this agent hears nothing of it. */
async function placeOf(
  { kernel: { edges }, actor }: ActionParts,
  agents: AgentFacts,
  source: Source,
): Promise<Place> {
  const recordOf = async (pid: string) => (await edges.store.ask({ ask: 'process', pid }))?.record ?? null
  const asker = actor.startsWith('process:') ? await recordOf(actor.slice('process:'.length)) : null
  if (asker !== null && asker.agent !== null)
    return {
      near: asker,
      request: {
        parent: asker.pid,
        owner: { session: await agents.openSession(asker) },
        lifetime: 'session',
        placement: 'parent',
      },
      allowance: undefined,
    }
  const parent = source.parent === null ? null : await recordOf(source.parent)
  const { parent: above, owner, lifetime, placement } = restartRequest(source, parent)
  const isAlone = source.parent !== null && above === undefined
  if (isAlone && actor !== 'host' && !actor.startsWith('human:'))
    throw new RefusedError(parentGone(source.pid, source.parent))
  return {
    near: source,
    request: {
      ...(isAlone ? {} : { owner: { ...owner }, lifetime }),
      ...(above === undefined ? {} : { parent: above }),
      ...(placement === undefined ? {} : { placement }),
    } as JsonObject,
    allowance: above === undefined ? source.limits.allowance : undefined,
  }
}

interface Asked {
  readonly source: Source
  readonly place: Place
  readonly input: Omit<Input, 'pid'>
}

async function requestOf(
  parts: ActionParts,
  agents: AgentFacts,
  { source, place, input }: Asked,
): Promise<ParsedInputOf<'spawn'>> {
  const { near } = place
  const {
    at: _,
    workspace: __,
    mode,
    roots: ____,
    preset,
    ceiling: rules,
    cwd: asked,
    paths: ___,
    role,
    goal,
    context,
    model: asks,
    image: reference,
    idempotencyKey,
    name,
    label,
    allowance = place.allowance,
    ...own
  } = input
  throwIfRefused(refuseRights(source, input))
  const isReading = onlyReads(input)
  const cwd = await folderOf(agents, { source, near, asked })
  const image = reference === undefined ? undefined : await imageOf(parts, reference, cwd)
  const imaged: Partial<Image> = image?.image ?? {}
  const base = specBelow(source, imaged)
  const tools = own.tools ?? imaged.tools ?? toolsIn(base)
  throwIfRefused(refuseTools(source, tools) ?? refuseTools(near, tools))
  const named = asks ?? imaged.models?.[0]
  const model = named ?? String(base['model'])
  await refuseModel(parts, agents, { source, near, model, cwd, allowance })
  const spec = {
    ...base,
    ...(role === undefined ? (imaged.name === undefined ? {} : { agent: imaged.name }) : { agent: role }),
    ...(mode === 'worker' ? { once: true } : {}),
    ...own,
    ...(await pathsOf(agents, { source, place, input })),
    goal,
    context: [noteOf(source, isReading), ...(context === undefined ? [] : [context])].join('\n\n'),
    ...(asks === undefined ? {} : { model: asks }),
    ...(image === undefined ? {} : { image: `${image.image.name}@${image.hash}` }),
  }
  const ceiling = ceilingOf(isReading ? 'observe' : preset, rules)
  const untyped: unknown = {
    kind: 'agent',
    ...place.request,
    spec,
    label: label ?? labelOf(goal),
    ...(cwd === null ? {} : { cwd }),
    ...(source.envRef === null ? {} : { envRef: source.envRef }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(name === undefined ? {} : { name }),
    ...(allowance === undefined ? {} : { allowance }),
    ...(ceiling === undefined ? {} : { ceiling }),
  }
  return untyped as ParsedInputOf<'spawn'>
}

/** What a fork has of the agent that it branches from, unless its own image says something else. */
function specBelow(source: Source, imaged: Partial<Image>): JsonObject {
  const { goal: _, context: __, paths: ___, ...spec } = startSpecOf(source)
  const replaced = new Set(Object.keys(imaged))
  if (imaged.models !== undefined) for (const one of ['model', 'fallbacks', 'effort']) replaced.add(one)
  return Object.fromEntries(Object.entries(spec).filter(([name]) => !replaced.has(name)))
}

function toolsIn({ tools }: JsonObject): readonly string[] | undefined {
  return Array.isArray(tools) ? tools.map(String) : undefined
}

/** A speculative fork may write where nothing that counts is: in a worktree of its own. */
function onlyReads({
  mode,
  workspace,
}: {
  readonly mode: Input['mode']
  readonly workspace?: Input['workspace'] | undefined
}): boolean {
  return isReadOnly(mode) || (mode === 'speculative' && workspace === undefined)
}

/** A fork that only reads has the rights of its mode. */
function refuseRights(
  source: Source,
  { mode, preset, ceiling, paths, workspace }: Asked['input'],
): Refusal | undefined {
  if (!onlyReads({ mode, workspace })) return undefined
  const given = [
    ...(preset === undefined || preset === 'observe' ? [] : ['preset']),
    ...(ceiling === undefined ? [] : ['ceiling']),
    ...(paths === undefined ? [] : ['paths']),
  ]
  if (given.length === 0) return undefined
  const remedy = `Leave ${given.join(' and ')} out, or fork it with the mode copy.`
  return invalidRequest(source, `a fork with the mode ${mode} only reads`, remedy)
}

/**
 * The paths that the fork alone may write. An agent that may write some paths only has no fork that may write others: below it, its own
 * paths bind the fork; elsewhere the fork needs them, and gets them when that agent has ended.
 */
async function pathsOf(
  agents: AgentFacts,
  { source, place, input: { mode, paths, workspace } }: Asked,
): Promise<JsonObject> {
  if (paths !== undefined) return { paths: pathsInSpec(await agents.pathsIn(place.near, paths)) }
  const held = delegatedPaths(source)
  const isBound = place.request['parent'] === source.pid
  if (held === null || isBound || onlyReads({ mode, workspace }) || workspace !== undefined) return {}
  return { paths: pathsInSpec(held) }
}

async function folderOf(
  agents: AgentFacts,
  {
    source,
    near,
    asked,
  }: { readonly source: Source; readonly near: ProcessRecord; readonly asked: string | undefined },
): Promise<string | null> {
  const wanted = asked ?? source.cwd
  if (wanted === null || (asked === undefined && near.cwd === source.cwd)) return wanted
  return agents.folderIn(near, wanted)
}

async function refuseModel(
  { kernel, actor }: ActionParts,
  agents: AgentFacts,
  {
    source,
    near,
    model,
    cwd,
    allowance,
  }: {
    readonly source: Source
    readonly near: ProcessRecord
    readonly model: string
    readonly cwd: string | null
    readonly allowance: ProcessRecord['limits']['allowance']
  },
): Promise<void> {
  const limits = allowance === undefined ? near.limits : { ...near.limits, allowance }
  const unusable = await agents.refuseModel({ cwd, limits }, model)
  if (unusable !== undefined)
    throw new RefusedError(invalidRequest(source, unusable.message.replace(/\.$/, ''), unusable.remedy))
  const denied = await refuseModelByRules(kernel.edges, near.pid, model, 'answered')
  if (denied === undefined) return
  await refuseAct(kernel.edges, denied, { actor, action: 'forkAgent', target: `process:${near.pid}` })
}

/** What its model has to know: the session that it reads was led by another agent. */
function noteOf({ pid }: Source, isReading: boolean): string {
  const note = `The session up to here is that of ${pid}, which goes on by itself. You are a fork of it: another agent, with this goal alone.`
  return isReading ? `${note} You can read, and change nothing.` : note
}

function elsewhere({ pid, placement }: ProcessRecord): Refusal {
  return refusal(
    'owned_elsewhere',
    `${pid} belongs to ${placement}, and its folder is there.`,
    'Ask the daemon of that machine.',
  )
}

function noAgents(): Refusal {
  return refusal('not_available', 'This program drives no agents.', 'Ask a daemon that does.')
}
