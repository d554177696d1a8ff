import { NOT_DRIVEN, refuseTools } from '../core/agent/delegation.ts'
import { invalidRequest, notAnAgent } from '../core/agent/refusals.ts'
import { presetRules } from '../core/capability/presets.ts'
import { RefusedError } from '../core/errors.ts'
import { type Image, imageRefOf } from '../core/image/image.ts'
import { asJson, type JsonObject } from '../core/json/json.ts'
import { pathsInSpec } from '../core/lien/lien.ts'
import { awaitsApproval } from '../core/process/gate.ts'
import { hasEnded, type ProcessRecord } from '../core/process/record.ts'
import { specOf, startSpecOf } from '../core/process/spec.ts'
import { isRefusal, refusal } from '../core/refusal.ts'
import { refuseHandingDown } from '../core/tool/written-tool.ts'
import { refuseAct } from '../kernel/audit.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { refuseModelByRules } from '../kernel/model-rules.ts'
import type { Registering } from '../kernel/register.ts'
import { visibleTools } from '../kernel/written-tools.ts'
import type { OutputOf, ParsedInputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, readerFor, throwIfRefused } from './action.ts'
import { modelOf } from './agent-facts.ts'
import { refuseUnknown } from './known-tools.ts'
import { type PlacedRequest, registerInWorktrees } from './register-in-worktrees.ts'
import { type FoundImage, findImage } from './resolve-image.ts'
import { registerAll, spawnAnswer } from './spawn.ts'

/** How long a new agent may wait for a program that drives it. One that is not up by then is withdrawn. */
const UP_MS = 10_000

type Input = Omit<ParsedInputOf<'spawnAgent'>, 'parent'>
type Answer = OutputOf<'spawnAgent'>

/** Agents below agents. The rules are in `core/agent/delegation.ts`. */
export function spawnAgentActions(parts: ActionParts): ActionsFor<'spawnAgent' | 'spawnAgents'> {
  const { kernel } = parts
  const read = readerFor(parts, 'spawnAgent')
  const readForGroup = readerFor(parts, 'spawnAgents')
  return {
    async spawnAgent({ parent: above, ...child }) {
      const existing = await repeated(parts, child)
      if (existing !== null) return existing
      const parent = await read(above)
      const [registered] = await registerBelow(parts, parent, [child], async () => [])
      const { record } = spawnAnswer(registered)
      if (awaitsApproval(record)) return { type: 'asked', record }
      return { type: 'started', record: await whenUp(kernel, record) }
    },
    async spawnAgents({ parent: above, agents }) {
      const known = await Promise.all(agents.map((agent) => repeated(parts, agent)))
      const existing = known.filter((answer) => answer !== null)
      if (existing.length === agents.length) return { agents: existing }
      if (existing[0] !== undefined) throw new RefusedError(otherGroup(existing[0].record))
      const parent = await readForGroup(above)
      const registered = await registerBelow(parts, parent, agents, (requests) => seatsFor(parts, requests))
      // They are at work as soon as there is a slot: some may have to wait for the others.
      return {
        agents: registered.map((one): Answer => {
          const { record } = spawnAnswer(one)
          return { type: awaitsApproval(record) ? 'asked' : 'started', record }
        }),
      }
    },
  }
}

type Seat = Pick<Registering, 'pid' | 'reportSeat'>

/** Registers agents below another one, in one transaction. Worktrees that they ask for are made before. */
async function registerBelow(
  parts: ActionParts,
  parent: ProcessRecord,
  children: readonly Input[],
  seatsOf: (requests: readonly ParsedInputOf<'spawn'>[]) => Promise<readonly Seat[]>,
) {
  const { kernel, actor, commands } = parts
  const requests = await Promise.all(
    children.map(async (child) => ({
      ...(await requestOf(parts, parent, child)),
      hasWorktree: child.workspace !== undefined,
    })),
  )
  return registerInWorktrees(parts, parent, requests, async (placed) =>
    registerAll(kernel, commands, actor, placed, { more: await seatsOf(placed) }),
  )
}

/** The seat of each agent in their group. The id of the group is the pid of the first one. */
async function seatsFor(
  { kernel: { edges }, actor }: ActionParts,
  agents: readonly ParsedInputOf<'spawn'>[],
): Promise<readonly Seat[]> {
  const [first] = agents
  const key = first?.idempotencyKey
  const keyed = key === undefined ? undefined : await edges.pidForKey(actor, key)
  const group = first?.pid ?? keyed ?? edges.newPid()
  return agents.map((_, index) => ({
    ...(index === 0 ? { pid: group } : {}),
    reportSeat: { group, size: agents.length, index },
  }))
}

/** The child of an earlier request with the same key. What it inherited then may have changed since. */
async function repeated(
  { kernel, actor }: ActionParts,
  { pid, idempotencyKey, goal }: Input,
): Promise<Answer | null> {
  const { edges } = kernel
  const known = pid ?? (idempotencyKey === undefined ? null : await edges.pidForKey(actor, idempotencyKey))
  const row = known === null ? null : await edges.store.ask({ ask: 'process', pid: known })
  if (row === null) return null
  const { record } = row
  throwIfRefused(edges.authorize(actor, 'read', { type: 'process', record }))
  if (record.outcome?.reason === NOT_DRIVEN) throw new RefusedError(notDriven(record.pid))
  if (record.kind === 'agent' && record.spec['goal'] === goal) return { type: 'existing', record }
  throw new RefusedError(
    refusal(
      'conflict',
      `${record.pid} is already registered with another goal.`,
      'Repeat the first request exactly, or use another key for another agent.',
    ),
  )
}

async function requestOf(
  parts: ActionParts,
  parent: ProcessRecord,
  input: Input,
): Promise<Omit<PlacedRequest, 'hasWorktree'>> {
  const { agents } = parts
  if (parent.agent === null) throw new RefusedError(notAnAgent(parent))
  if (agents === undefined) throw new RefusedError(noAgents())
  const {
    workspace: _,
    preset,
    ceiling: rules,
    cwd: asked,
    paths,
    role,
    goal,
    model: asks,
    image: reference,
    ...given
  } = input
  const { pid, idempotencyKey, name, label, allowance, ...own } = given
  const above = startSpecOf(parent)
  const cwd = asked === undefined ? parent.cwd : await agents.folderIn(parent, asked)
  const image = reference === undefined ? undefined : await imageOf(parts, reference, cwd)
  const imaged: Partial<Image> = image?.image ?? {}
  throwIfRefused(refuseTools(parent, own.tools ?? imaged.tools))
  throwIfRefused(await refuseUnknown(parts.kernel.edges, own.tools))
  const written = await visibleTools(parts.kernel.edges, parent)
  throwIfRefused(refuseHandingDown(parent.pid, written, own.writtenTools ?? []))
  const named = asks ?? imaged.models?.[0]
  const model = named ?? modelOf(parent)
  const limits = allowance === undefined ? parent.limits : { ...parent.limits, allowance }
  const { program = own.program } = named === undefined ? specOf({ kind: 'agent', spec: above }, 'agent') : {}
  const checkModel = async (folder: string | null) => {
    const user = { cwd: folder, limits, ...(program === undefined ? {} : { outside: program }) }
    const unusable = await agents.refuseModel(user, model)
    if (unusable !== undefined)
      throw new RefusedError(invalidRequest(parent, unusable.message.replace(/\.$/, ''), unusable.remedy))
  }
  await checkModel(cwd)
  // The rules of its parent bind the child.
  const denied = await refuseModelByRules(parts.kernel.edges, parent.pid, model, 'answered')
  if (denied !== undefined) {
    const target = `process:${parent.pid}`
    await refuseAct(parts.kernel.edges, denied, { actor: parts.actor, action: 'spawnAgent', target })
  }
  const ceiling = ceilingOf(preset, rules)
  const held = paths === undefined ? {} : { paths: pathsInSpec(await agents.pathsIn(parent, paths)) }
  const ofParent = {
    ...(named === undefined ? inherited(above, ['fallbacks', 'effort', 'maxOutputTokens', 'program']) : {}),
    ...inherited(above, ['tools', 'system', 'hooks']),
  }
  const spec = {
    agent: role ?? imaged.name ?? String(above['agent']),
    ...Object.fromEntries(Object.entries(ofParent).filter(([name]) => !(name in imaged))),
    ...own,
    ...held,
    goal,
    // The registration adds what the image says, and its model with the fallbacks of that.
    ...(asks === undefined && imaged.models !== undefined ? {} : { model }),
    ...(image === undefined ? {} : { image: `${image.image.name}@${image.hash}` }),
  }
  const request = {
    kind: 'agent',
    parent: parent.pid,
    owner: { session: await agents.openSession(parent) },
    // It outlives the turn that asked for it, and never its parent.
    lifetime: 'session',
    spec,
    label: label ?? labelOf(goal),
    placement: 'parent',
    ...(cwd === null ? {} : { cwd }),
    ...(parent.envRef === null ? {} : { envRef: parent.envRef }),
    ...(pid === undefined ? {} : { pid }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(name === undefined ? {} : { name }),
    ...(allowance === undefined ? {} : { allowance }),
    ...(ceiling === undefined ? {} : { ceiling }),
  }
  const untyped: unknown = request
  return { request: untyped as ParsedInputOf<'spawn'>, checkModel }
}

/** The version of the image that counts now: the registration takes the same one. */
export async function imageOf(
  { kernel }: ActionParts,
  reference: string,
  folder: string | null,
): Promise<FoundImage> {
  const found = await findImage(kernel.edges, imageRefOf(reference), folder)
  if (isRefusal(found)) throw new RefusedError(found)
  return found
}

function inherited(above: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.flatMap((name) => (name in above ? [[name, above[name] ?? null]] : [])))
}

/** A preset as the rules of a ceiling. The rules of the parent bind the child besides. */
export function ceilingOf(
  preset: string | undefined,
  ceiling: Input['ceiling'],
): Input['ceiling'] | { readonly rules: readonly JsonObject[] } {
  if (preset === undefined) return ceiling
  const rules = presetRules(preset)
  if (isRefusal(rules)) throw new RefusedError(rules)
  return { rules: rules.map(({ id: _, preset: __, ...rule }) => asJson(rule) as JsonObject) }
}

const MAX_LABEL_CHARS = 80

export function labelOf(goal: string): string {
  const [line = ''] = goal.trim().split('\n')
  return line.length > MAX_LABEL_CHARS ? `${line.slice(0, MAX_LABEL_CHARS - 1)}…` : line || 'agent'
}

/** Its goal is its first input, and is taken with its registration: it is up as soon as a program drives it. */
export async function whenUp(kernel: Kernel, record: ProcessRecord): Promise<ProcessRecord> {
  const { pid, revision } = record
  if (record.firstStarted !== null) return record
  const { edges } = kernel
  const begun = ({ type }: { readonly type: string }) => type === 'started'
  await kernel.waits.forEvent(pid, revision, begun, { timeoutMs: UP_MS })
  const now = (await edges.store.ask({ ask: 'process', pid }))?.record ?? record
  if (now.firstStarted !== null || hasEnded(now)) return now
  const why = { how: 'cancel', reason: NOT_DRIVEN, cause: null, replayKey: NOT_DRIVEN } as const
  const actor = `kernel:${kernel.id}` as const
  await kernel.perform({ type: 'stop', pid, actor, at: edges.clock.now(), ...why })
  throw new RefusedError(notDriven(pid))
}

function notDriven(pid: string) {
  return refusal(
    'not_available',
    `No program has begun to drive ${pid} within ${UP_MS / 1_000} s, so it was withdrawn.`,
    'Wait until other agents are done, and ask again, with another key.',
  )
}

function otherGroup({ pid }: ProcessRecord) {
  return refusal(
    'conflict',
    `${pid} was registered by another request.`,
    'Repeat the first request exactly, or use other keys for other agents.',
  )
}

function noAgents() {
  return refusal('not_available', 'This program drives no agents.', 'Ask a daemon that does.')
}
