import type { Delivery } from '../core/trigger/delivery.ts'
import type { Trigger, TriggerSource } from '../core/trigger/trigger.ts'
import type { ChangedTrigger } from '../kernel/triggers.ts'
import type { OutputOf, ParsedInputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, permitOnStore } from './action.ts'
import { occurrenceRequestOf, shownProcess } from './occurrence-request.ts'

export function triggerActions(
  parts: ActionParts,
): ActionsFor<
  | 'addTrigger'
  | 'editTrigger'
  | 'pauseTrigger'
  | 'resumeTrigger'
  | 'runTrigger'
  | 'removeTrigger'
  | 'trigger'
  | 'triggers'
  | 'deliveries'
> {
  const { actor, masker } = parts
  const { triggers, edges } = parts.kernel
  const sourceOf = (given: ParsedInputOf<'addTrigger'>['source']): TriggerSource =>
    given.type === 'files' ? { ...given, place: placeOf(parts) } : given
  /** The verb is not masked, for the secret: the rest of its answer is masked here. */
  const changed = async ({ trigger, secret }: ChangedTrigger) => ({
    trigger: (await masker.answer(shownTrigger(trigger), 'all')) as OutputOf<'trigger'>,
    secret,
  })
  return {
    addTrigger: async ({ trigger: id, source, process: asked, ...given }) =>
      changed(
        await triggers.add(actor, id, {
          overlap: 'queue',
          pauseOnFailure: false,
          ...given,
          source: sourceOf(source),
          request: await occurrenceRequestOf(
            parts,
            asked,
            (await edges.store.ask({ ask: 'trigger', id }))?.request ?? null,
          ),
        }),
      ),
    editTrigger: async ({ trigger: id, source, process: asked, rotateSecret, ...given }) =>
      changed(
        await triggers.edit(actor, id, {
          ...given,
          ...(rotateSecret === undefined ? {} : { rotatesSecret: rotateSecret }),
          ...(source === undefined ? {} : { source: sourceOf(source) }),
          ...(asked === undefined ? {} : { request: await occurrenceRequestOf(parts, asked, null) }),
        }),
      ),
    pauseTrigger: async ({ trigger: id, note }) =>
      shownTrigger(await triggers.pause(actor, id, note ?? null)),
    resumeTrigger: async ({ trigger: id }) => shownTrigger(await triggers.resume(actor, id)),
    async runTrigger({ trigger: id, body, idempotencyKey }) {
      return { record: (await triggers.run(actor, id, body ?? null, idempotencyKey)).record }
    },
    async removeTrigger({ trigger: id }) {
      await triggers.remove(actor, id)
      return { removed: true }
    },
    trigger: async ({ trigger: id }) => shownTrigger(await triggers.show(actor, id)),
    async triggers({ after, limit }) {
      permitOnStore(parts, 'read')
      return { triggers: (await triggers.list(after ?? null, limit)).map(shownTrigger) }
    },
    async deliveries({ trigger: id, before, limit }) {
      const found = await triggers.deliveries(actor, id, { before: before ?? null, limit })
      return { deliveries: found.map(shownDelivery) }
    },
  }
}

/** The folder is on the host of this program. */
function placeOf({ kernel }: ActionParts): `host:${string}` | null {
  return kernel.host === null ? null : `host:${kernel.host}`
}

function shownTrigger(trigger: Trigger): OutputOf<'trigger'> {
  const { id, source, request, overlap, pauseOnFailure, session, createdBy, createdAt, editedAt } = trigger
  const { revision, paused, running, queue, last, counts } = trigger
  return {
    ...{ id, overlap, pauseOnFailure, session, createdBy, createdAt, editedAt, revision, paused, last },
    source: shownSource(id, source),
    process: shownProcess(request),
    running: running.map(({ pid, at }) => ({ pid, at })),
    queued: queue.length,
    counts,
  }
}

function shownSource(id: string, source: TriggerSource): OutputOf<'trigger'>['source'] {
  switch (source.type) {
    case 'webhook':
      return { ...source, path: `/hooks/${id}` }
    case 'files':
      return source
    case 'event': {
      const { type, on, outcome, kind, name, label, session } = source
      return {
        ...{ type, on: [...on] },
        ...(outcome === undefined ? {} : { outcome: [...outcome] }),
        ...(kind === undefined ? {} : { kind: [...kind] }),
        ...(name === undefined ? {} : { name: [...name] }),
        ...(label === undefined ? {} : { label: [...label] }),
        ...(session === undefined ? {} : { session }),
      }
    }
  }
}

function shownDelivery({
  number,
  id,
  at,
  verdict,
  reason,
  pid,
}: Delivery): OutputOf<'deliveries'>['deliveries'][number] {
  const hasProcess = verdict === 'started' || verdict === 'queued'
  return { number, id, at, verdict, reason, pid: hasProcess ? pid : null }
}
