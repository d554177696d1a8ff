import { branchFrom } from '../../../src/agent/parts/branch-point.ts'
import { refuseWrites } from '../../../src/agent/toolbox/held-paths.ts'
import { refuseFork } from '../../../src/core/agent/fork.ts'
import type { Json } from '../../../src/core/json/json.ts'
import type { Pid } from '../../../src/core/process/pid.ts'
import { isRefusal } from '../../../src/core/refusal.ts'
import { MODELS } from '../agents/simulated-agents.ts'
import { TOOLS } from '../agents/simulated-tools.ts'
import type { Entry } from '../ledger.ts'
import type { Peer } from '../peer.ts'
import type { Random } from '../random.ts'
import { HOST, PATHS } from '../trees/lien-laws.ts'
import type { World } from '../world.ts'
import { agents } from './agents.ts'
import type { Request } from './intent.ts'

const MAX_AGENTS = 9

export const startTree: Request = {
  name: 'start a tree',
  weight: 1,
  ask(world, peer, track) {
    if (liveAgents(world).length >= MAX_AGENTS) return
    const spec = {
      agent: 'simulated',
      model: MODELS[0],
      tools: [...TOOLS],
      delegation: { depth: 3, children: 4 },
    }
    track('', peer.kernel.register([{ request: { kind: 'agent', spec }, actor: 'host' }]))
  },
}

export const trees: readonly Request[] = [
  ...agents.filter(({ name }) => !['start an agent', 'agent: configure', 'agent: allow'].includes(name)),
  startTree,
  {
    name: 'spawn agents',
    weight: 8,
    ask(world, peer, track) {
      const { random } = world.stage
      const live = liveAgents(world)
      if (live.length === 0 || live.length >= MAX_AGENTS) return
      const parent = random.pick(live).pid
      const size = random.pick([1, 1, 2, 3])
      const pids = Array.from({ length: size }, () => peer.kernel.edges.newPid())
      const [group = ''] = pids
      const registering = pids.map((pid, index) => ({
        pid,
        actor: `process:${parent}` as const,
        request: { kind: 'agent', parent, spec: childSpec(world, random) } as const,
        ...(size === 1 ? {} : { reportSeat: { group, size, index } }),
      }))
      track(`${parent} ${pids.join(' ')}`, peer.kernel.register(registering))
    },
  },
  {
    name: 'fork an agent',
    weight: 4,
    ask(world, peer, track) {
      const { random } = world.stage
      const sources = [...world.ledger.processes.values()].filter(
        ({ record }) => (record.agent?.turns ?? 0) > 1,
      )
      if (sources.length === 0 || liveAgents(world).length >= MAX_AGENTS) return
      const source = random.pick(sources)
      const at = random.maybe(0.5, () => random.between(1, Math.max(1, source.record.agent?.turns ?? 1)))
      const isOwn = source.record.outcome === null && random.chance(0.5)
      track(`${source.pid} ${at ?? 'now'}`, fork(world, peer, source.pid, { at, isOwn }))
    },
  },
  {
    name: 'parent asks',
    weight: 6,
    ask(world, peer, track) {
      const { random } = world.stage
      const child = someChild(world)
      if (child === undefined) return
      const id = world.agentClients.newId()
      const mode = random.pick(['run', 'queue', 'steer'] as const)
      const request = { type: 'run', id, mode, parts: [{ type: 'text', text: `<${id}>` }] } as const
      const asked = { pid: child.pid, actor: `process:${child.record.parent}`, request } as const
      track(`${child.pid} ${mode}`, world.agentClients.send(peer.kernel, asked))
    },
  },
  {
    name: 'stop an agent',
    weight: 1.5,
    ask(world, peer, track) {
      const { random } = world.stage
      const child = someChild(world)
      if (child === undefined) return
      const how = random.pick(['cancel', 'kill'] as const)
      const stop = { type: 'stop', how, reason: 'asked', cause: null, replayKey: how } as const
      track(
        `${child.pid} ${how}`,
        peer.kernel.perform({ ...stop, pid: child.pid, actor: 'host', at: peer.clock.now() }),
      )
    },
  },
  {
    name: 'ask to write',
    weight: 4,
    ask(world, peer, track) {
      const live = liveAgents(world)
      if (live.length === 0) return
      const { pid } = world.stage.random.pick(live)
      const file = `${world.stage.random.pick(PATHS)}/file`
      track(`${pid} ${file}`, askToWrite(world, peer, pid, file))
    },
  },
]

async function fork(
  world: World,
  { kernel }: Peer,
  pid: Pid,
  { at, isOwn }: { readonly at: number | undefined; readonly isOwn: boolean },
): Promise<unknown> {
  const { store } = kernel.edges
  const record = (await store.ask({ ask: 'process', pid }))?.record
  if (record === undefined || record.agent === null || refuseFork(record) !== undefined) return undefined
  const branch = await branchFrom(store, { ...record, agent: record.agent }, { at, mode: 'copy' })
  if (isRefusal(branch)) return branch.code
  const { paths: _, context: __, ...spec } = record.spec
  const parent = isOwn ? { parent: pid } : {}
  const request = {
    kind: 'agent',
    ...parent,
    spec: { ...spec, goal: `<${world.agentClients.newId()}>` },
  } as const
  const actor = isOwn ? (`process:${pid}` as const) : 'host'
  return kernel.register([{ pid: kernel.edges.newPid(), actor, request, branch }])
}

/** The answer is compared if no agent was registered and none ended meanwhile. */
async function askToWrite({ lienLaws }: World, { kernel }: Peer, pid: Pid, file: string): Promise<void> {
  const { version } = lienLaws
  const refused = await refuseWrites(kernel, pid, [file])
  // A line without paths is not compared: its host is that of the kernel.
  if (version === lienLaws.version && lienLaws.isBound(pid)) lienLaws.told(pid, file, refused.length > 0)
}

function childSpec({ agentClients }: World, random: Random): { readonly [name: string]: Json } {
  const paths = [...new Set([random.pick(PATHS), ...(random.chance(0.3) ? [random.pick(PATHS)] : [])])]
  return {
    agent: 'simulated',
    model: MODELS[0],
    tools: [...TOOLS],
    ...(random.chance(0.8) ? { goal: `<${agentClients.newId()}>` } : {}),
    ...(random.chance(0.5) ? { once: true } : {}),
    ...(random.chance(0.6) ? { paths: { host: HOST, paths } } : {}),
  }
}

function someChild(world: World): Entry | undefined {
  const children = liveAgents(world).filter(({ record }) => record.parent !== null)
  return children.length === 0 ? undefined : world.stage.random.pick(children)
}

function liveAgents({ ledger }: World): readonly Entry[] {
  return [...ledger.processes.values()].filter(
    ({ record }) => record.agent !== null && record.outcome === null,
  )
}
