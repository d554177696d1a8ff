import { checkAllClosed, checkAtRest, checkWatchers } from './checks/rest.ts'
import type { Counts } from './counts.ts'
import { agents, startAgent } from './intents/agents.ts'
import { requests } from './intents/all.ts'
import { authority } from './intents/authority.ts'
import { definitions } from './intents/definitions.ts'
import { FIRST_SESSIONS, openSessionWithRules } from './intents/gated.ts'
import type { Request } from './intents/intent.ts'
import { startTree, trees } from './intents/trees.ts'
import type { Plant } from './plant.ts'
import { Random } from './random.ts'
import type { Violation } from './stage.ts'
import { bootSome, upsets } from './upsets.ts'
import { HOSTS, World } from './world.ts'
import { hasAgents, type WorldKind } from './world-kind.ts'

export interface RunOptions {
  readonly steps?: number
  readonly plant?: Plant
  readonly kind?: WorldKind
  /** Requests in addition to all others. */
  readonly more?: readonly Request[]
  /** The names of requests that are made ten times as often. */
  readonly often?: readonly string[]
}

export interface SeedReport {
  readonly seed: number
  readonly steps: number
  readonly violations: readonly Violation[]
  readonly trace: readonly string[]
  /** The hash of the whole trace and of the final file. */
  readonly hash: string
  readonly counts: Counts
}

export const DEFAULT_STEPS = 300
/** A turn of an agent takes many steps. */
const AGENT_STEPS = 3
/** How many steps lie between full comparisons; cheaper checks run with every commit. */
const FULL_CHECK_EVERY = 25
/** Longer than the longest backoff and the longest sleep; TTLs are added for lapses, sweeps and clock differences. */
const REST_MS = 12_000
const REST_TTLS = 4
/** The weight of requests beside tasks. A turn of an agent takes many tasks. */
const REQUESTS = 3
const AGENT_REQUESTS = 0.5
const WATCHERS_MS = 3_000
/** Schedules go on at rest. */
const MAX_REST_STEPS = 20_000

/** Runs one world from beginning to end. Stops at the first step that breaks a law. */
export async function simulate(seed: number, options: RunOptions = {}): Promise<SeedReport> {
  const { plant, kind = plant?.kind ?? 'plain' } = options
  const world = await World.create(new Random(seed), { plant, kind })
  const { stage } = world
  const steps = (options.steps ?? DEFAULT_STEPS) * (hasAgents(kind) ? AGENT_STEPS : 1)
  const usual = requestsOf(kind)
  const { often = [], more = [] } = options
  const asked = [...usual, ...more].map((one) =>
    often.includes(one.name) ? { ...one, weight: one.weight * 10 } : one,
  )
  try {
    for (let peers = stage.random.between(2, 3); peers > 0; peers--) bootSome(world)
    await settle(world)
    for (stage.step = 1; stage.step <= steps && stage.violations.length === 0; stage.step++) {
      step(world, asked)
      await settle(world)
      if (stage.step % FULL_CHECK_EVERY === 0) world.ledger.checkAll()
    }
    if (stage.violations.length === 0) await comeToRest(world)
    stage.say('world', `leaves ${world.ledger.observer.digest()}`)
  } finally {
    world.destroy()
  }
  const { violations, counts, trace } = stage
  return { seed, steps: stage.step, violations, trace: trace.lines, hash: trace.hash, counts }
}

/** One step: a client makes a request, a task runs, time moves on to the next timer, or an upset happens. */
function step(world: World, asked: readonly Request[]): void {
  const { stage } = world
  const { random, schedule } = stage
  if (world.peers.length === 0) {
    bootSome(world)
    return
  }
  const { runnable, nextTimer } = schedule
  const what = random.weighted(['request', 'task', 'timer', 'upset'] as const, (one) => {
    switch (one) {
      case 'request':
        return world.open.length === 0 ? 0 : hasAgents(world.kind) ? AGENT_REQUESTS : REQUESTS
      case 'task':
        return runnable.length > 0 ? 5 : 0
      case 'timer':
        return nextTimer === undefined ? 0 : runnable.length > 0 ? stage.settings.haste : 2
      case 'upset':
        return 0.4
    }
  })
  if (what === 'request') {
    const request =
      firstRequest(world) ?? random.weighted(asked, ({ name, weight }) => stage.weightOf(name, weight))
    const peer = random.pick(world.open)
    request.ask(world, peer, (about, asked, then) => world.track(request.name, peer, about, asked, then))
  } else if (what === 'task') {
    runTask(world, random.pick(runnable))
  } else if (what === 'timer' && nextTimer !== undefined) {
    fireTimer(world, nextTimer)
  } else if (what === 'upset') {
    const upset = random.weighted(upsets, ({ name, weight }) => stage.weightOf(name, weight))
    stage.counts.fault(upset.name)
    upset.happen(world)
  }
}

/** In a world of a kind, most requests are about that kind. */
function requestsOf(kind: WorldKind): readonly Request[] {
  switch (kind) {
    case 'plain':
      return requests
    case 'rules':
      return [...requests.map((one) => rarer(one, 0.3)), ...authority]
    case 'agents':
    case 'long_term':
      return [...requests.map((one) => rarer(one, 0.05)), ...agents]
    case 'trees':
      return [...requests.map((one) => rarer(one, 0.05)), ...trees]
    case 'definitions':
      return [...requests.map((one) => rarer(one, 0.1)), ...definitions]
  }
}

function rarer(request: Request, factor: number): Request {
  return { ...request, weight: request.weight * factor }
}

/** The request that a world makes before all others. */
function firstRequest({ kind, sessions, ledger }: World): Request | undefined {
  if (kind === 'rules' && sessions.length < FIRST_SESSIONS) return openSessionWithRules
  const hasAgent = () => [...ledger.processes.values()].some(({ record }) => record.agent !== null)
  if (!hasAgents(kind) || hasAgent()) return undefined
  return kind === 'trees' ? startTree : startAgent
}

function runTask({ stage }: World, task: World['stage']['schedule']['runnable'][number]): void {
  stage.say(task.doer.name, task.what)
  stage.schedule.run(task)
}

function fireTimer({ stage }: World, timer: NonNullable<World['stage']['schedule']['nextTimer']>): void {
  stage.schedule.fire(timer)
  stage.say(timer.doer.name, `${timer.what} fires`)
}

/** Lets every promise run until it waits for the schedule, and removes dead peers. */
async function settle(world: World): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve))
  world.removeDead()
}

/** Ends all faults, thaws every peer, lets time pass, and checks that everything ends well. */
async function comeToRest(world: World): Promise<void> {
  const { stage } = world
  const restMs = REST_MS + REST_TTLS * stage.settings.ttlMs
  stage.faulty = false
  stage.diskTrouble = undefined
  for (const peer of world.peers) {
    peer.thaw()
    // Kernels on one file share one clock: they differ by more than a TTL only for a while.
    peer.jump(0)
  }
  stage.say('world', 'comes to rest')
  await pass(world, WATCHERS_MS)
  if (stage.violations.length === 0) checkWatchers(world)
  // With one slot each, processes that wait for others have to give theirs back.
  const concurrency = stage.random.pick([1, 1_000])
  for (const _host of HOSTS) world.boot({ serves: ['tool', 'agent', 'workflow'], concurrency })
  await pass(world, restMs)
  if (stage.violations.length > 0) return
  world.ledger.checkAll()
  checkAtRest(world)
  world.checkPartsAtRest()
  if (stage.violations.length > 0) return
  for (const { stop } of world.followers) stop.abort()
  for (const peer of world.peers) peer.close()
  await pass(world, restMs)
  world.ledger.checkAll()
  checkAllClosed(world)
}

async function pass(world: World, ms: number): Promise<void> {
  const { stage } = world
  const until = stage.now + ms
  await settle(world)
  for (let steps = 0; stage.violations.length === 0; steps++) {
    const [task] = stage.schedule.runnable
    const timer = stage.schedule.nextTimer
    if (steps > MAX_REST_STEPS) stage.violated('it comes to rest', `${steps} steps, and no end`)
    if (task !== undefined) runTask(world, stage.random.pick(stage.schedule.runnable))
    else if (timer !== undefined && timer.at <= until) fireTimer(world, timer)
    else break
    stage.step += 1
    await settle(world)
  }
  stage.schedule.now = Math.max(stage.now, until)
}
