import type { AgentRequest } from '../../../src/core/agent/request.ts'
import { INPUT_MODES } from '../../../src/core/agent/state.ts'
import type { Amounts } from '../../../src/core/allowance/amounts.ts'
import type { Json } from '../../../src/core/json/json.ts'
import type { Actor } from '../../../src/core/process/record.ts'
import type { ClientRequest } from '../agents/agent-clients.ts'
import { MODELS } from '../agents/simulated-agents.ts'
import { MEMORY_MODEL } from '../agents/simulated-memory.ts'
import { TOOLS } from '../agents/simulated-tools.ts'
import type { Entry } from '../ledger.ts'
import type { Random } from '../random.ts'
import type { World } from '../world.ts'
import type { Request } from './intent.ts'

/** Few, so that each gets far. */
const MAX_AGENTS = 3
const ASKERS = ['host', 'human:ann', 'human:bob'] as const satisfies readonly Actor[]

export const startAgent: Request = {
  name: 'start an agent',
  weight: 1.5,
  ask(world, peer, track) {
    const { random } = world.stage
    if (liveAgents(world) >= MAX_AGENTS) return
    const allowance = random.maybe(0.4, () => someAmounts(random))
    const spec: { [name: string]: Json } = {
      agent: 'simulated',
      // The other one has no price.
      model: allowance?.cost === undefined ? random.pick(MODELS.slice(0, 2)) : MODELS[0],
      tools: [...TOOLS],
      ...(random.chance(0.5) ? { goal: `<${world.agentClients.newId()}>` } : {}),
      ...(random.chance(0.1) ? { once: true } : {}),
      ...(random.chance(0.3) ? { fallbacks: [MODELS[1]] } : {}),
      ...(world.kind === 'long_term' ? { memory: { model: MEMORY_MODEL } } : {}),
      ...(random.chance(0.2) ? { softLimits: { tokensIn: random.between(50, 200) } } : {}),
    }
    const request = {
      kind: 'agent',
      spec,
      ...(allowance === undefined ? {} : { allowance }),
      // An agent does not count them.
      ...(random.chance(0.5) ? { limits: { attempts: 1 } } : {}),
    } as const
    const pid = peer.kernel.edges.newPid()
    // Model calls are charged after the work.
    world.ledger.overrunning.add(pid)
    track(
      `${pid} ${JSON.stringify(spec)}`,
      peer.kernel.register([{ request, actor: random.pick(ASKERS), pid }]),
    )
  },
}

export const agents: readonly Request[] = [
  startAgent,
  {
    name: 'repeat a request',
    weight: 4,
    ask(world, peer, track) {
      const asked = world.agentClients.earlier()
      if (asked !== undefined) track(said(asked), world.agentClients.send(peer.kernel, asked))
    },
  },
  method('run', 10, (world, pid) => {
    const { random } = world.stage
    const id = world.agentClients.newId()
    const mode = random.pick(INPUT_MODES)
    return {
      type: 'run',
      id,
      mode,
      parts: [{ type: 'text', text: `<${id}>` }],
      ...(random.chance(0.15) && mode !== 'steer' ? { schema: { type: 'object' } } : {}),
      ...(random.chance(0.15) && mode === 'run'
        ? { until: someGoal(random), maxTurns: random.between(1, 3) }
        : {}),
      ...(random.chance(0.1) ? { expectedHead: headOf(world, pid) - random.between(0, 1) } : {}),
    }
  }),
  method(
    'cancel_turn',
    1,
    ({ stage: { random }, agentClients }) => ({
      type: 'cancel_turn',
      id: agentClients.newId(),
      ...(random.chance(0.4) ? { dropQueued: true } : {}),
    }),
    hasTools,
  ),
  method('pause', 1.5, ({ agentClients }) => ({ type: 'pause', id: agentClients.newId() }), hasOutput),
  method('resume', 3, ({ agentClients }) => ({ type: 'resume', id: agentClients.newId() }), isPaused),
  method('notify', 2, ({ stage: { random }, agentClients }) => {
    const id = agentClients.newId()
    const cause = random.pick(['notify', 'wake', 'schedule'] as const)
    return { type: 'notify', id, cause, parts: [{ type: 'text', text: `(${id})` }] }
  }),
  method('compact', 1, ({ agentClients }) => ({ type: 'compact', id: agentClients.newId() })),
  method(
    'rewind',
    8,
    (world, pid) => {
      const { random } = world.stage
      const { turns = 0 } = world.ledger.entry(pid)?.record.agent ?? {}
      const turn = random.between(1, Math.max(1, turns))
      return {
        type: 'rewind',
        id: world.agentClients.newId(),
        to: random.chance(0.5) ? { turn } : { branch: String(turn) },
        ...(random.chance(0.4) ? { undoFiles: true } : {}),
      }
    },
    isIdle,
  ),
  method(
    'edit_input',
    1,
    (world, pid) => {
      const id = world.agentClients.newId()
      return {
        type: 'edit_input',
        id,
        input: someInput(world, pid),
        parts: [{ type: 'text', text: `<${id} edited>` }],
      }
    },
    hasInputs,
  ),
  method(
    'remove_input',
    1,
    (world, pid) => ({ type: 'remove_input', id: world.agentClients.newId(), input: someInput(world, pid) }),
    hasInputs,
  ),
  method(
    'reorder_inputs',
    1,
    (world, pid) => ({
      type: 'reorder_inputs',
      id: world.agentClients.newId(),
      inputs: inputsOf(world, pid).toReversed(),
    }),
    hasInputs,
  ),
  method('configure', 0.5, ({ stage: { random }, agentClients }) => ({
    type: 'configure',
    id: agentClients.newId(),
    model: random.chance(0.2) ? MODELS[2] : random.pick(MODELS.slice(0, 2)),
  })),
  method('allow', 1.5, ({ stage: { random }, agentClients }) => ({
    type: 'allow',
    id: agentClients.newId(),
    amounts: someAmounts(random),
  })),
  method('shutdown', 0.3, ({ agentClients }) => ({ type: 'shutdown', id: agentClients.newId() })),
]

/** One method of an agent. `fits`: the agents that are asked most often. */
function method(
  name: AgentRequest['type'],
  weight: number,
  make: (world: World, pid: string) => ClientRequest['request'],
  fits: (entry: Entry) => boolean = () => true,
): Request {
  return {
    name: `agent: ${name}`,
    weight,
    ask(world, peer, track) {
      const { random } = world.stage
      const isAgent = ({ record }: Entry) => record.agent !== null
      const fitting = random.chance(0.9)
        ? world.somePid((entry) => isAgent(entry) && entry.record.outcome === null && fits(entry))
        : 'p_unknown00000'
      const pid = fitting === 'p_unknown00000' ? world.somePid(isAgent) : fitting
      const asked = { pid, actor: random.pick(ASKERS), request: make(world, pid) }
      track(said(asked), world.agentClients.send(peer.kernel, asked))
    },
  }
}

function said({ pid, actor, request }: ClientRequest): string {
  return `${pid} ${actor} ${JSON.stringify(request)}`
}

function someGoal(random: Random) {
  return random.chance(0.5)
    ? ({ type: 'command', run: 'true' } as const)
    : ({ type: 'model', check: 'Is it done?' } as const)
}

function someAmounts(random: Random): Amounts {
  const tokensIn = random.between(20, 200)
  return random.chance(0.5) ? { tokensIn } : { tokensIn, cost: random.between(1, 30) / 1_000 }
}

function liveAgents({ ledger }: World): number {
  return [...ledger.processes.values()].filter(
    ({ record }) => record.agent !== null && record.outcome === null,
  ).length
}

function hasTools({ record }: Entry): boolean {
  return (record.agent?.turn?.tools.length ?? 0) > 0
}

function hasOutput({ record }: Entry): boolean {
  return record.agent?.turn?.hasOutput === true
}

function isIdle({ record }: Entry): boolean {
  return record.status !== 'paused' && record.agent?.turn === null && record.agent.turns > 1
}

function isPaused({ record }: Entry): boolean {
  return record.status === 'paused'
}

function hasInputs({ record }: Entry): boolean {
  return (record.agent?.inputs.length ?? 0) > 0
}

function inputsOf({ ledger }: World, pid: string): readonly string[] {
  return (ledger.entry(pid)?.record.agent?.inputs ?? []).map(({ id }) => id)
}

function someInput(world: World, pid: string): string {
  const waiting = inputsOf(world, pid)
  return waiting.length === 0 ? 'none' : world.stage.random.pick(waiting)
}

function headOf({ ledger }: World, pid: string): number {
  return ledger.entry(pid)?.record.agent?.head ?? 0
}
