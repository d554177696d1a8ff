import { questionProcess } from '../../../src/core/approval/question.ts'
import type { Actor } from '../../../src/core/process/record.ts'
import type { RegistrationRequest } from '../../../src/core/process/register.ts'
import { addRule } from '../../../src/kernel/policies.ts'
import { openSession } from '../../../src/kernel/sessions.ts'
import { MACHINE_PARTS } from '../authority/machine.ts'
import { FOLDERS } from '../authority/policy-folders.ts'
import { asJson } from '../payload.ts'
import type { Random } from '../random.ts'
import type { Request } from './intent.ts'
import { EVENT_TYPES, someSession } from './requests.ts'
import { allowanceOf, workspaceOf } from './scopes.ts'

/** The first requests of a world with rules open so many sessions. */
export const FIRST_SESSIONS = 3

export const openSessionWithRules: Request = {
  name: 'open a session with rules',
  weight: 0.5,
  ask(world, peer, track) {
    const { random } = world.stage
    const session = `s${world.sessions.length + 1}`
    world.sessions.push(session)
    const { edges } = peer.kernel
    const above = world.sessions.length > 1 && random.chance(0.4) ? someSession(world) : undefined
    const parent = above === session ? undefined : above
    track(
      `${session}${parent === undefined ? '' : ` below ${parent}`}`,
      openSession(edges, 'host', session, null, allowanceOf(session), workspaceOf(session), parent),
    )
    for (const resource of ['tool:deploy', 'shell:git']) {
      if (!random.chance(0.7)) continue
      const rule = { effect: 'ask', rights: ['execute'], resource } as const
      track(
        `${session} asks about ${resource}`,
        addRule(edges, 'host', `session:${session}`, (id) => ({ ...rule, id })),
      )
    }
  },
}

/** Registrations by actors that rules bind. */
export const gated: readonly Request[] = [
  openSessionWithRules,
  {
    name: 'register as a session',
    weight: 14,
    ask(world, peer, track) {
      const actor: Actor = `session:${someSession(world)}`
      const request = someAct(world.stage.random)
      track(`${actor} ${textOf(request)}`, peer.kernel.register([{ request, actor }]))
    },
  },
  {
    name: 'register into a session below',
    weight: 4,
    ask(world, peer, track) {
      const below = [...world.ledger.sessions.values()].filter(
        ({ sessionsAbove }) => sessionsAbove !== undefined,
      )
      if (below.length === 0) return
      const { random } = world.stage
      const { id, sessionsAbove = [] } = random.pick(below)
      const actor: Actor = `session:${random.pick(sessionsAbove)}`
      const request = { ...someAct(random), owner: { session: id } }
      track(`${actor} in ${id} ${textOf(request)}`, peer.kernel.register([{ request, actor }]))
    },
  },
  {
    name: 'register many as a session',
    weight: 4,
    ask(world, peer, track) {
      const { random } = world.stage
      const actor: Actor = `session:${someSession(world)}`
      const first = someAct(random)
      const requests = Array.from({ length: random.between(2, 3) }, () =>
        random.chance(0.7) ? first : someAct(random),
      )
      const asked = peer.kernel.register(requests.map((request) => ({ request, actor })))
      track(`${actor} ${requests.map(textOf).join(', ')}`, asked)
    },
  },
  {
    name: 'register as a process',
    weight: 8,
    ask(world, peer, track) {
      const parent = world.somePid(({ record }) => record.kind !== 'command' && record.stopRequest === null)
      const request = { ...someAct(world.stage.random), parent }
      track(
        `process:${parent} ${textOf(request)}`,
        peer.kernel.register([{ request, actor: `process:${parent}` }]),
      )
    },
  },
  {
    name: 'register an agent that acts',
    weight: 4,
    ask(world, peer, track) {
      const { random } = world.stage
      const session = someSession(world)
      const ceiling = random.chance(0.3) ? { ceiling: { rules: someCeiling(random) } } : {}
      const request = {
        kind: 'external',
        spec: {},
        eventTypes: EVENT_TYPES,
        owner: { session },
        ...ceiling,
      } as const
      track(session, peer.kernel.register([{ request, actor: 'host' }]))
    },
  },
  {
    name: 'ask a person',
    weight: 3,
    ask(world, peer, track) {
      const { random } = world.stage
      const actor: Actor = random.chance(0.3) ? 'host' : `session:${someSession(world)}`
      const question = questionProcess({
        question: 'Which one?',
        choices: random.chance(0.5) ? ['a', 'b'] : undefined,
        timeoutMs: random.chance(0.6) ? random.between(1, 8_000) : undefined,
        person: random.chance(0.3) ? 'ada' : undefined,
        priority: undefined,
      })
      const request = { ...question, eventTypes: EVENT_TYPES }
      track(actor, peer.kernel.register([{ request, actor }]))
    },
  },
  {
    name: 'act once and die',
    weight: 5,
    ask(world, peer, track) {
      const sets = world.ledger.observer.ask({ ask: 'ruleSets', after: null, limit: 1_000 })
      const counted = sets.flatMap(({ subject, rules }) =>
        rules.flatMap(({ uses, resource }) =>
          uses === undefined || !subject.startsWith('session:') || !resource.startsWith('tool:')
            ? []
            : [{ subject, resource }],
        ),
      )
      if (counted.length === 0) return
      const { subject, resource } = world.stage.random.pick(counted)
      const tool = resource === 'tool:script' ? 'script' : 'deploy'
      const request = {
        kind: 'tool',
        spec: { tool, input: [{ do: 'die' }] },
        eventTypes: EVENT_TYPES,
      } as const
      track(`${subject} ${tool}`, peer.kernel.register([{ request, actor: subject as Actor }]))
    },
  },
  {
    name: 'change the machine',
    weight: 2,
    ask(world) {
      const { random } = world.stage
      const machine = random.pick([...world.machines.values()])
      const what = random.pick(MACHINE_PARTS)
      machine[what] += 1
      world.stage.say(machine.host, `has another ${what}`)
    },
  },
]

/** An act that the rules of these worlds are about. */
export function someAct(random: Random): RegistrationRequest {
  const what = random.weighted(
    ['deploy', 'command', 'script', 'flow', 'agent'] as const,
    (one) => ACT_WEIGHTS[one],
  )
  const common = { eventTypes: EVENT_TYPES, ...(random.chance(0.3) ? { limits: { attempts: 3 } } : {}) }
  const recovery = random.pick(['bound', 'bound', 'rerunnable'] as const)
  switch (what) {
    case 'deploy':
      return {
        ...common,
        kind: 'tool',
        recovery,
        spec: { tool: 'deploy', input: [{ do: random.chance(0.1) ? 'die' : 'turn' }] },
      }
    case 'script': {
      const child = {
        kind: 'tool',
        spec: { tool: 'deploy', input: [{ do: 'turn' }] },
        eventTypes: EVENT_TYPES,
      }
      const input = asJson([{ do: 'turn' }, { do: 'spawn', request: child }, { do: 'wait' }])
      return { ...common, kind: 'tool', recovery, spec: { tool: 'script', input } }
    }
    case 'flow': {
      const request = { kind: 'tool', spec: { tool: 'deploy', input: [] }, eventTypes: EVENT_TYPES }
      const input = asJson([{ do: 'spawn', request }, { do: 'wait' }])
      return { ...common, kind: 'workflow', spec: { workflow: 'flow', input } }
    }
    case 'agent':
      return { ...common, kind: 'agent', spec: { agent: 'simulated', turns: random.between(0, 4) } }
    case 'command':
      return someCommand(random)
  }
}

/** Usually in a folder, sometimes in that of the daemon. */
export function someCommand(random: Random): RegistrationRequest {
  const argv = ['git', random.pick(['push', 'push', 'status'])]
  const env = random.chance(0.3) ? { env: { MODE: random.pick(['a', 'b']) } } : {}
  const place = random.chance(0.2) ? {} : { cwd: random.pick(FOLDERS) }
  return { eventTypes: EVENT_TYPES, kind: 'command', spec: { argv, ...env }, ...place }
}

const ACT_WEIGHTS = { deploy: 5, command: 6, script: 2, flow: 2, agent: 1 }

function someCeiling(random: Random) {
  return random.pick([
    [{ effect: 'allow', rights: ['execute'], resource: 'tool:deploy' }],
    [
      { effect: 'allow', rights: ['execute'], resource: 'tool:**' },
      { effect: 'ask', rights: ['execute'], resource: 'tool:deploy' },
    ],
  ])
}

export function textOf({ kind, spec }: RegistrationRequest): string {
  return `${kind} ${JSON.stringify(spec['argv'] ?? spec[kind] ?? '')}`
}
