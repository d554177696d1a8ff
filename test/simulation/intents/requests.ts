import type { EventType, Lifetime, Owner } from '../../../src/core/process/record.ts'
import type { RegistrationRequest } from '../../../src/core/process/register.ts'
import type { ChildRequest } from '../../../src/verbs/tool-function.ts'
import type { FlowStep } from '../flow.ts'
import { asJson } from '../payload.ts'
import type { Random } from '../random.ts'
import type { Step } from '../script.ts'
import { HOSTS, type World } from '../world.ts'

/** Event types of every process: a plain one, a facet, one that wakes, and one that ends. */
export const EVENT_TYPES: { readonly [type: string]: EventType } = {
  note: { schema: { type: 'string' } },
  progress: { schema: { type: 'number' }, facet: 'progress' },
  ping: { schema: {}, wake: true },
  done: { schema: { type: 'string' }, end: 'completed', wake: true },
}

export const CHANNELS = ['a', 'b'] as const

export const SIGNALS = ['go', 'stop-now'] as const

/** A client's request for a process: usually valid, sometimes impossible. */
export function someRequest(world: World): RegistrationRequest {
  const { random } = world.stage
  const parents = world.ledger.processes.size > 0 ? 0.35 : 0.05
  const sessions = openSessions(world).length > 0 ? 1 : 0.05
  const parent = random.maybe(parents, () => someParent(world))
  const owner = random.maybe(0.6 * sessions, () => someOwner(world))
  const group = random.maybe(0.15, () => ({ id: `g${random.between(1, 4)}`, size: 2 }))
  const wakeTarget = random.maybe(0.3 * sessions, () => someSession(world))
  const lifetime = random.maybe(0.5, () => random.pick(lifetimesFor(owner, parent)))
  const grants = random.maybe(0.15 * sessions, () => [
    { session: someSession(world), descriptor: { n: random.between(1, 9) } },
  ])
  const placement = random.maybe(0.15, () =>
    random.pick([
      ...HOSTS.map((host) => `host:${host}` as const),
      ...(parent === undefined ? [] : ['parent' as const]),
    ]),
  )
  const name = random.maybe(0.2, () => random.pick(['web', 'build']))
  return {
    ...someKind(random, 2),
    eventTypes: EVENT_TYPES,
    ...(parent === undefined ? {} : { parent }),
    ...(owner === undefined ? {} : { owner }),
    ...(group === undefined ? {} : { group }),
    ...(wakeTarget === undefined ? {} : { wakeTarget }),
    ...(lifetime === undefined ? {} : { lifetime }),
    ...(grants === undefined ? {} : { grants }),
    ...(name === undefined ? {} : { name }),
    ...(placement === undefined ? {} : { placement }),
    ...(random.chance(0.3) ? { replyTo: { thread: random.between(1, 99) } } : {}),
    ...(random.chance(0.3) ? { cwd: '/work' } : {}),
    ...(random.chance(0.05) ? { notBefore: world.stage.now + random.between(0, 5_000) } : {}),
    ...(random.chance(0.4) ? { limits: { attempts: random.between(1, 3) } } : {}),
  }
}

/** Usually a process that accepts a child. */
function someParent(world: World): string {
  const willing = world.stage.random.chance(0.85)
  return world.somePid(
    ({ record }) =>
      record.kind !== 'command' && (!willing || (record.outcome ?? record.stopRequest) === null),
  )
}

/** Usually an open session or turn. */
export function someOwner(world: World): Owner {
  const { random } = world.stage
  const { observer } = world.ledger
  const isOpen = ({ session, turn: id }: { session: string; turn: string }) =>
    observer.ask({ ask: 'turn', session, id })?.endedAt === null
  const turns = random.chance(0.85) ? world.turns.filter(isOpen) : world.turns
  const turn = random.maybe(0.4, () => (turns.length === 0 ? undefined : random.pick(turns)))
  const call = random.chance(0.15) ? { toolCall: `call ${random.between(1, 2)}` } : {}
  return turn === undefined
    ? { session: someSession(world), ...call }
    : { session: turn.session, turn: turn.turn, ...call }
}

export function someSession(world: World): string {
  const { random } = world.stage
  const sessions = random.chance(0.9) ? openSessions(world) : world.sessions
  return sessions.length === 0 ? 's_unknown' : random.pick(sessions)
}

function openSessions({ ledger, sessions }: World): readonly string[] {
  return sessions.filter((id) => ledger.observer.ask({ ask: 'session', id })?.endedAt === null)
}

/** Usually lifetimes whose scope the process has. */
function lifetimesFor(owner: Owner | undefined, parent: string | undefined): readonly Lifetime[] {
  const lifetimes: Lifetime[] = ['daemon', 'detached']
  if (owner?.session !== undefined) lifetimes.push('session', 'session')
  if (owner?.turn !== undefined) lifetimes.push('turn', 'turn')
  if (parent !== undefined) lifetimes.push('parent', 'parent')
  return lifetimes.length > 2 ? lifetimes : [...lifetimes, 'parent']
}

function someKind(random: Random, depth: number): Pick<RegistrationRequest, 'kind' | 'spec' | 'recovery'> {
  const kind = random.weighted(
    ['tool', 'agent', 'workflow', 'external', 'command'] as const,
    (one) => KIND_WEIGHTS[one],
  )
  switch (kind) {
    case 'tool': {
      const spec = { tool: 'script', input: asJson(someScript(random, depth)) }
      return { kind, spec, recovery: random.pick(['rerunnable', 'rerunnable', 'bound']) }
    }
    case 'agent': {
      const turns = random.between(0, 4)
      const spec = { agent: 'simulated', turns, ignoresStop: random.chance(0.3), fails: random.chance(0.3) }
      return { kind, spec }
    }
    case 'workflow': {
      const input = Array.from({ length: random.between(0, 6) }, () => someFlowStep(random, depth))
      return { kind, spec: { workflow: 'flow', input: asJson(input) } }
    }
    case 'external':
      return { kind, spec: {} }
    case 'command':
      return { kind, spec: { run: 'true' } }
  }
}

const KIND_WEIGHTS = { tool: 7, agent: 3, workflow: 4, external: 1.5, command: 0.3 }

function someFlowStep(random: Random, depth: number): FlowStep {
  const what = random.weighted(FLOW_STEPS, ([, weight]) => weight)[0]
  switch (what) {
    case 'step':
      return { do: what, turns: random.between(0, 2), fails: random.chance(0.2) ? random.between(1, 3) : 0 }
    case 'signal': {
      const timeout = random.chance(0.5) ? { timeoutMs: random.between(1, 6_000) } : {}
      return { do: what, name: random.pick(SIGNALS), ...timeout }
    }
    case 'receive':
      return { do: what, ...someReceive(random) }
    case 'sleep':
      return { do: what, ms: random.between(1, 6_000) }
    case 'spawn': {
      if (depth === 0) return { do: 'step', turns: 0, fails: 0 }
      const request = { ...someKind(random, depth - 1), eventTypes: EVENT_TYPES } as ChildRequest
      return { do: what, request }
    }
    default:
      return { do: what }
  }
}

/** Messages of a channel, or of any. */
function someReceive(random: Random) {
  return {
    ...(random.chance(0.6) ? { channel: random.pick(CHANNELS) } : {}),
    ...(random.chance(0.6) ? { timeoutMs: random.between(1, 6_000) } : {}),
  }
}

const FLOW_STEPS = [
  ['step', 6],
  ['step and die', 0.3],
  ['signal', 2],
  ['message', 1],
  ['receive', 1.5],
  ['sleep', 1.5],
  ['spawn', 2],
  ['wait', 2],
] as const

function someScript(random: Random, depth: number): Step[] {
  return Array.from({ length: random.between(0, 4) }, () => someStep(random, depth))
}

function someStep(random: Random, depth: number): Step {
  const stubborn = random.chance(0.15)
  const what = random.weighted(STEPS, ([, weight]) => weight)[0]
  switch (what) {
    case 'append': {
      const type = random.weighted(
        ['note', 'ping', 'done', 'undeclared'] as const,
        (one) => APPEND_WEIGHTS[one],
      )
      const key = random.chance(0.5) || type === 'done' ? { replayKey: `step:${random.between(1, 3)}` } : {}
      return { stubborn, do: what, type, payload: `said ${random.between(1, 2)}`, ...key }
    }
    case 'signal': {
      const timeout = random.chance(0.5) ? { timeoutMs: random.between(1, 6_000) } : {}
      return { stubborn, do: what, name: random.pick(SIGNALS), ...timeout }
    }
    case 'receive':
      return { stubborn, do: what, ...someReceive(random) }
    case 'key':
      return { do: what, name: random.pick(SIGNALS) }
    case 'sleep':
      return { stubborn, do: what, ms: random.between(1, 6_000) }
    case 'spawn': {
      if (depth === 0) return { do: 'turn' }
      const lifetime = random.maybe(0.5, () => random.pick(['parent', 'detached', 'daemon'] as const))
      const request = {
        ...someKind(random, depth - 1),
        eventTypes: EVENT_TYPES,
        ...(lifetime === undefined ? {} : { lifetime }),
      } as ChildRequest
      return { stubborn, do: what, request }
    }
    default:
      return { stubborn, do: what }
  }
}

const STEPS = [
  ['turn', 6],
  ['append', 4],
  ['signal', 4],
  ['message', 1],
  ['receive', 2],
  ['key', 1],
  ['sleep', 2],
  ['spawn', 2],
  ['wait', 2],
  ['until_resumed', 1],
  ['throw', 0.5],
  ['hang', 0.7],
  ['ignore_cancel', 0.4],
  ['die', 0.1],
] as const

const APPEND_WEIGHTS = { note: 4, ping: 3, done: 1, undeclared: 0.5 }
