import { personBehind } from '../core/authority/person.ts'
import type { PruneBatch, PruneOptions } from '../kernel/prune.ts'
import type { InputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, finderFor, permitOnStore, permitOrAudit } from './action.ts'

/** The state of the daemon and the identity of the caller; removal of ended processes; recovery. */
export function upkeepActions(parts: ActionParts): ActionsFor<'whoami' | 'status' | 'prune' | 'recover'> {
  const { kernel, actor, seat, effects, commands, retention, troubles } = parts
  const { edges } = kernel
  const find = finderFor(parts)
  const pruneOptions = async ({ pids, olderThanMs, keep }: InputOf<'prune'>): Promise<PruneOptions> => {
    if (pids !== undefined) return { pids: await Promise.all(pids.map(find)) }
    return {
      ...(olderThanMs === undefined ? {} : { endedBefore: edges.clock.now() - olderThanMs }),
      ...(keep === undefined ? {} : { keep }),
    }
  }
  return {
    async whoami() {
      const session = actor.startsWith('session:') ? actor.slice('session:'.length) : null
      return {
        actor,
        session,
        person: personBehind(actor, seat),
        approver: seat.approver,
        readOnly: !effects.areKept,
        now: edges.clock.now(),
      }
    },
    async status() {
      permitOnStore(parts, 'read')
      const keeper = commands?.keeper
      const [{ live }, { pending }, { ended, oldestEndedAt, bytes }, unreadable, available = false] =
        await Promise.all([
          edges.store.ask({ ask: 'activity', session: null, since: null }),
          edges.store.ask({ ask: 'approvalQueue', limit: 0 }),
          edges.store.ask({ ask: 'storage' }),
          edges.store.ask({ ask: 'unreadable' }),
          keeper?.answers(),
          edges.workspaces?.lookAgain(),
        ])
      const identity = keeper?.identity ?? null
      const { maxAgeMs, maxEnded } = retention.limits
      const models = edges.modelDefaults?.()
      return {
        daemon: { id: kernel.id, osPid: process.pid },
        keeper: identity === null ? null : { id: identity.id, osPid: identity.osPid, available },
        live,
        awaitingApproval: pending,
        models: { default: models?.model ?? null, keys: [...(models?.keys ?? [])] },
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
    async prune(input) {
      await permitOrAudit(parts, 'prune')
      const pruned: PruneBatch['pruned'][number][] = []
      const kept: PruneBatch['kept'][number][] = []
      for await (const batch of retention.prune(await pruneOptions(input))) {
        for (const pid of batch.pruned) pruned.push(pid)
        for (const one of batch.kept) kept.push(one)
      }
      return { pruned, kept }
    },
    async recover() {
      await permitOrAudit(parts, 'recover')
      return kernel.sweep()
    },
  }
}
