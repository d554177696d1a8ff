import { refuseTools } from '../core/agent/delegation.ts'
import { invalidRequest, notAnAgent } from '../core/agent/refusals.ts'
import { presetRules } from '../core/capability/presets.ts'
import { RefusedError } from '../core/errors.ts'
import { asJson, type JsonObject } from '../core/json/json.ts'
import { pathsInSpec } from '../core/lien/lien.ts'
import { awaitsApproval } from '../core/process/gate.ts'
import { hasEnded, type ProcessRecord } from '../core/process/record.ts'
import { startSpecOf } from '../core/process/spec.ts'
import { isRefusal, refusal } from '../core/refusal.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { OutputOf, ParsedInputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, readerFor, throwIfRefused } from './action.ts'
import { modelOf } from './agent-facts.ts'
import { registerInWorktree } from './register-in-worktree.ts'
import { registerAll, spawnAnswer } from './spawn.ts'

/** How long a new agent may wait for a program that drives it. One that is not up by then is withdrawn. */
const UP_MS = 10_000

type Input = ParsedInputOf<'spawnAgent'>

/** Agents below agents. The rules are in `core/agent/delegation.ts`. */
export function spawnAgentActions(parts: ActionParts): ActionsFor<'spawnAgent'> {
  const { kernel, actor, commands } = parts
  const read = readerFor(parts, 'spawnAgent')
  return {
    async spawnAgent(input) {
      const existing = await repeated(parts, input)
      if (existing !== null) return existing
      const parent = await read(input.parent)
      const request = await requestOf(parts, parent, input)
      const register = async (asked: ParsedInputOf<'spawn'>) =>
        spawnAnswer((await registerAll(kernel, commands, actor, [asked]))[0])
      const { record } = await (input.workspace === undefined
        ? register(request)
        : registerInWorktree(parts, parent, request, register))
      if (awaitsApproval(record)) return { type: 'asked', record }
      return { type: 'started', record: await whenUp(kernel, record) }
    },
  }
}

/** The child of an earlier request with the same key. What it inherited then may have changed since. */
async function repeated(
  { kernel, actor }: ActionParts,
  { pid, idempotencyKey, goal }: Input,
): Promise<OutputOf<'spawnAgent'> | null> {
  const { edges } = kernel
  const known = pid ?? (idempotencyKey === undefined ? null : await edges.pidForKey(actor, idempotencyKey))
  const row = known === null ? null : await edges.store.ask({ ask: 'process', pid: known })
  if (row === null) return null
  const { record } = row
  throwIfRefused(edges.authorize(actor, 'read', { type: 'process', record }))
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
): Promise<ParsedInputOf<'spawn'>> {
  const { agents } = parts
  if (parent.agent === null) throw new RefusedError(notAnAgent(parent))
  if (agents === undefined) throw new RefusedError(noAgents())
  const {
    parent: _,
    workspace: __,
    preset,
    ceiling: rules,
    cwd: asked,
    paths,
    role,
    goal,
    model: named,
    ...given
  } = input
  const { pid, idempotencyKey, name, label, allowance, ...own } = given
  const above = startSpecOf(parent)
  throwIfRefused(refuseTools(parent, own.tools))
  const cwd = asked === undefined ? parent.cwd : await agents.folderIn(parent, asked)
  const model = named ?? modelOf(parent)
  const limits = allowance === undefined ? parent.limits : { ...parent.limits, allowance }
  const unusable = await agents.refuseModel({ cwd, limits }, model)
  if (unusable !== undefined)
    throw new RefusedError(invalidRequest(parent, unusable.message.replace(/\.$/, ''), unusable.remedy))
  const ceiling = ceilingOf(preset, rules)
  const held = paths === undefined ? {} : { paths: pathsInSpec(await agents.pathsIn(parent, paths)) }
  const spec = {
    agent: role ?? String(above['agent']),
    ...(named === undefined ? inherited(above, ['fallbacks', 'effort', 'maxOutputTokens']) : {}),
    ...inherited(above, ['tools', 'system']),
    ...own,
    ...held,
    goal,
    model,
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
  return untyped as ParsedInputOf<'spawn'>
}

function inherited(above: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.flatMap((name) => (name in above ? [[name, above[name] ?? null]] : [])))
}

/** A preset as the rules of a ceiling. The rules of the parent bind the child besides. */
function ceilingOf(
  preset: string | undefined,
  ceiling: Input['ceiling'],
): Input['ceiling'] | { readonly rules: readonly JsonObject[] } {
  if (preset === undefined) return ceiling
  const rules = presetRules(preset)
  if (isRefusal(rules)) throw new RefusedError(rules)
  return { rules: rules.map(({ id: _, preset: __, ...rule }) => asJson(rule) as JsonObject) }
}

const MAX_LABEL_CHARS = 80

function labelOf(goal: string): string {
  const [line = ''] = goal.trim().split('\n')
  return line.length > MAX_LABEL_CHARS ? `${line.slice(0, MAX_LABEL_CHARS - 1)}…` : line || 'agent'
}

/** Its goal is its first input, and is taken with its registration: it is up as soon as a program drives it. */
async function whenUp(kernel: Kernel, record: ProcessRecord): Promise<ProcessRecord> {
  const { pid, revision } = record
  if (record.firstStarted !== null) return record
  const { edges } = kernel
  const begun = ({ type }: { readonly type: string }) => type === 'started'
  await kernel.waits.forEvent(pid, revision, begun, { timeoutMs: UP_MS })
  const now = (await edges.store.ask({ ask: 'process', pid }))?.record ?? record
  if (now.firstStarted !== null || hasEnded(now)) return now
  const why = { how: 'cancel', reason: 'not driven', cause: null, replayKey: 'not driven' } as const
  const actor = `kernel:${kernel.id}` as const
  await kernel.perform({ type: 'stop', pid, actor, at: edges.clock.now(), ...why })
  throw new RefusedError(
    refusal(
      'not_available',
      `No program has begun to drive ${pid} within ${UP_MS / 1_000} s, so it was withdrawn.`,
      'Wait until other agents are done, and ask again.',
    ),
  )
}

function noAgents() {
  return refusal('not_available', 'This program drives no agents.', 'Ask a daemon that does.')
}
