import type { Scope } from '../../../src/core/process/record.ts'
import { acknowledge } from '../../../src/kernel/acknowledge.ts'
import { consume, observe } from '../../../src/kernel/consume-notices.ts'
import { readNotices } from '../../../src/kernel/read-notices.ts'
import { takeNotices } from '../../../src/kernel/take-notices.ts'
import type { Request } from './intent.ts'
import { someSession } from './requests.ts'

const CONSUMERS = ['one', 'two', 'three'] as const

/** Consumers that take, forget, acknowledge late and read; executors that report matches in the output. */
export const inboxes: readonly Request[] = [
  {
    name: 'take notices',
    weight: 3,
    ask(world, peer, track) {
      const { random } = world.stage
      const scope: Scope = `session:${someSession(world)}`
      const consumer = random.pick(CONSUMERS)
      const visibilityMs = random.between(1, 20_000)
      const { edges } = peer.kernel
      const asked = takeNotices(edges, { scope, consumer, visibilityMs, limit: random.between(1, 5) })
      track(`${scope} ${consumer}`, asked, ({ notices }) => {
        world.taken.push(...notices.map(({ position }) => ({ scope, consumer, position })))
      })
    },
  },
  {
    name: 'acknowledge',
    weight: 3,
    ask(world, peer, track) {
      const { random } = world.stage
      if (world.taken.length === 0) return
      const { scope, consumer, position } = random.pick(world.taken)
      const { edges } = peer.kernel
      const how = random.chance(0.8) ? { positions: [position] } : { through: position }
      track(`${scope} ${position}`, acknowledge(edges, { scope, consumer, ...how }))
    },
  },
  {
    name: 'read notices',
    weight: 1,
    ask(world, peer, track) {
      const scope: Scope = `session:${someSession(world)}`
      const consumer = world.stage.random.pick(CONSUMERS)
      track(scope, readNotices(peer.kernel.edges, { scope, consumer, limit: 10 }))
    },
  },
  {
    name: 'consume',
    weight: 0.5,
    ask(world, peer, track) {
      const pid = world.somePid()
      const session = someSession(world)
      track(pid, consume(peer.kernel.edges, `session:${session}`, pid))
    },
  },
  {
    name: 'observe',
    weight: 0.8,
    ask(world, peer, track) {
      const { random } = world.stage
      const pid = world.somePid()
      const actor = `session:${someSession(world)}` as const
      const turns = random.chance(0.3) ? ['t1', 't2'] : [random.pick(['t1', 't2', 't3'])]
      // Two at once, in different turns: neither may undo the other.
      for (const turn of turns) track(`${pid} ${turn}`, observe(peer.kernel.edges, actor, pid, turn))
    },
  },
  {
    name: 'match',
    weight: 6,
    ask(world, peer, track) {
      const { random } = world.stage
      const pid = world.somePid(({ row }) => row.holder !== null)
      const row = world.ledger.entry(pid)?.row
      if (row === undefined || row.holder === null) return
      const offset = random.between(0, 40) * 10
      const match = { watch: random.pick(['errors', 'ready']), wanted: 'ERROR', offset, end: offset + 10 }
      const fence = { holder: row.holder, fence: row.fence - Number(random.chance(0.1)) }
      const asked = peer.kernel.perform({
        type: 'match',
        pid,
        actor: `process:${pid}`,
        at: peer.clock.now(),
        fence,
        match: { ...match, lines: ['ERROR'], more: 0, heldBack: 0, missed: null, strikes: 0 },
      })
      track(`${pid} ${offset}`, asked)
    },
  },
]
