import type { Commands } from '../command/commands.ts'
import { RefusedError } from '../core/errors.ts'
import type { Actor } from '../core/process/record.ts'
import type { Trouble } from '../core/trouble/trouble.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { PruneBatch, PruneOptions } from '../kernel/prune.ts'
import { resolve } from '../kernel/resolve.ts'
import type { InputOf } from '../verbs/reeve.ts'
import type { ActsFor } from './action.ts'
import type { Retention } from './retention.ts'

export interface UpkeepParts {
  readonly kernel: Kernel
  readonly actor: Actor
  readonly commands: Commands | undefined
  readonly retention: Retention
  readonly troubles: () => Trouble[]
}

/** How the daemon is, and the removal of ended processes. */
export function upkeepActs(parts: UpkeepParts): ActsFor<'prune' | 'status'> {
  const { kernel, actor, commands, retention, troubles } = parts
  const { edges } = kernel
  const permit = (right: 'read' | 'admin') => {
    const denied = edges.authorize(actor, right, { type: 'store' })
    if (denied !== undefined) throw new RefusedError(denied)
  }
  const wanted = async ({ pids, olderThanMs, keep }: InputOf<'prune'>): Promise<PruneOptions> => {
    if (pids !== undefined)
      return { pids: await Promise.all(pids.map((text) => resolve(edges, actor, text))) }
    return {
      ...(olderThanMs === undefined ? {} : { endedBefore: edges.clock.now() - olderThanMs }),
      ...(keep === undefined ? {} : { keep }),
    }
  }
  return {
    async prune(input) {
      permit('admin')
      const pruned: PruneBatch['pruned'][number][] = []
      const kept: PruneBatch['kept'][number][] = []
      for await (const batch of retention.prune(await wanted(input))) {
        for (const pid of batch.pruned) pruned.push(pid)
        for (const one of batch.kept) kept.push(one)
      }
      return { pruned, kept }
    },
    async status() {
      permit('read')
      const keeper = commands?.keeper
      const [{ live }, { ended, oldestEndedAt, bytes }, unreadable, available = false] = await Promise.all([
        edges.store.ask({ ask: 'activity', session: null, since: null }),
        edges.store.ask({ ask: 'storage' }),
        edges.store.ask({ ask: 'unreadable' }),
        keeper?.answers(),
      ])
      const identity = keeper?.identity ?? null
      const { maxAgeMs, maxEnded } = retention.limits
      return {
        daemon: { id: kernel.id, osPid: process.pid },
        keeper: identity === null ? null : { id: identity.id, osPid: identity.osPid, available },
        live,
        ended: {
          count: ended,
          oldestAt: oldestEndedAt,
          maxAgeMs: maxAgeMs ?? null,
          maxCount: maxEnded ?? null,
          lastPrune: retention.lastPrune,
        },
        storage: { storeBytes: bytes, outputBytes: commands?.upkeep.outputBytes ?? null },
        unreadable: unreadable.map(({ pid }) => pid),
        boot: kernel.boot,
        troubles: troubles(),
      }
    },
  }
}
