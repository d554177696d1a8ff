import { RefusedError } from '../../../src/core/errors.ts'
import type { Peer } from '../peer.ts'
import type { Follower, World } from '../world.ts'
import type { Request } from './intent.ts'

export const watching: readonly Request[] = [
  {
    name: 'wait',
    weight: 5,
    ask(world, peer, track) {
      const { random, schedule } = world.stage
      const pid = world.somePid()
      const wait = { peer, pid, settled: false }
      const timeoutMs = random.maybe(0.3, () => random.between(1, 20_000))
      const begun = schedule.now
      const asked = peer.kernel.waits
        .forEnd(pid, timeoutMs === undefined ? {} : { timeoutMs })
        .finally(() => {
          wait.settled = true
        })
      world.waits.push(wait)
      track(pid, asked, (waited) => {
        const outcome = world.ledger.entry(pid)?.record.outcome
        const broke = (what: string) =>
          world.stage.violated('a wait resolves if and only if it has ended', `${pid}: ${what}`)
        if (waited.type === 'done' && waited.value.record.outcome?.status !== outcome?.status)
          broke(`told ${waited.value.record.status}`)
        if (waited.type === 'timed_out' && schedule.now - begun < (timeoutMs ?? Number.POSITIVE_INFINITY))
          broke('timed out early')
        if (waited.type === 'interrupted') broke('interrupted without a reason')
      })
    },
  },
  {
    name: 'wait for an event',
    weight: 1,
    ask(world, peer, track) {
      const pid = world.somePid()
      const asked = peer.kernel.waits.forEvent(pid, 0, ({ type }) => type === 'note', {
        timeoutMs: world.stage.random.between(1, 20_000),
      })
      track(pid, asked, (waited) => {
        if (waited.type !== 'done') return
        const entry = world.ledger.entry(pid)
        const first = entry?.events.find(({ type }) => type === 'note')
        // The first matching event, or null if none came before the end.
        if (
          waited.value === null
            ? entry?.record.outcome === null || first !== undefined
            : waited.value.seq !== first?.seq
        )
          world.stage.violated(
            'a wait resolves if and only if it has ended',
            `${pid} was told ${waited.value?.seq ?? 'nothing'}, the first is ${first?.seq}`,
          )
      })
    },
  },
  {
    name: 'follow',
    weight: 0.7,
    ask(world, peer, track) {
      if (world.followers.filter(({ over }) => !over).length >= 3) return
      const { random } = world.stage
      const position = random.chance(0.5) ? 0 : world.ledger.position
      const follower: Follower = {
        peer,
        stop: new AbortController(),
        position,
        prunedThrough: 0,
        over: false,
      }
      world.followers.push(follower)
      track(`from ${position}`, follow(world, peer, follower))
    },
  },
]

/** Pauses between events at random, so that it falls behind; it may be refused because it fell too far behind. */
async function follow(world: World, peer: Peer, follower: Follower): Promise<void> {
  try {
    for await (const event of peer.kernel.follow(follower.position, () => true, follower.stop.signal)) {
      world.follows(follower, event)
      if (world.stage.random.chance(0.1)) await peer.turn()
    }
  } catch (error) {
    follower.over = true
    if (!(error instanceof RefusedError)) throw error
    const { prunedThrough } = error.details as { prunedThrough?: number }
    if (error.code !== 'behind_pruned' || prunedThrough === undefined || prunedThrough <= follower.position)
      world.stage.violated(
        'followers see every event once and in order',
        `told ${error.message} at ${follower.position}`,
      )
  }
}
