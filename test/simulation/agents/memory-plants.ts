import { asJson } from '../../../src/core/json/json.ts'
import { MEMORY_WORKFLOW } from '../../../src/core/memory/memory-spec.ts'
import type { ProcessRow } from '../../../src/core/process/row.ts'
import { Kernel } from '../../../src/kernel/kernel.ts'
import type { AnswerTo, Page, Question, Store } from '../../../src/store/contract.ts'
import { changing, refolded } from '../false-facts.ts'
import { payloadOf } from '../payload.ts'
import type { Plant } from '../plant.ts'
import { MEMORY_LAWS } from './memory-laws.ts'
import { rewriting } from './plants.ts'

/** Plausible bugs of the jobs that keep long-term memory. */
const PLANTS: readonly Omit<Plant, 'kind'>[] = [
  {
    name: 'a job beside the one that works',
    laws: [MEMORY_LAWS.alone],
    since: 16,
    // Only the jobs of this moment are looked at, and there seem to be none.
    kernel: (edges, options) => new Kernel({ ...edges, store: seeingNoJobs(edges.store) }, options),
  },
  {
    name: 'a turn that ends during a job is in no job',
    laws: [MEMORY_LAWS.covered],
    since: 5,
    // What the session has at the end of a job counts as read, and not what it had at the beginning.
    plan: (plan) =>
      rewriting(plan, (event) => {
        const note = payloadOf(event, 'memory_noted')?.note
        return note?.type === 'updated'
          ? { ...event, payload: asJson({ note: { ...note, through: event.seq } }) }
          : event
      }),
  },
  {
    name: 'a lost call of a job that is not charged',
    laws: [MEMORY_LAWS.charged],
    since: 7,
    plan: (plan) =>
      changing(plan, (changes) =>
        changes.map((change) => {
          if (change.type !== 'process' || change.was === null) return change
          const hasBegun = change.events.some(
            (event) => payloadOf(event, 'memory_noted')?.note.type === 'call_begun',
          )
          if (!hasBegun) return change
          const events = change.events
            .filter(({ type }) => type !== 'model_used')
            .map((event, index) => ({ ...event, seq: (change.was?.record.revision ?? 0) + index + 1 }))
          return refolded({ ...change, events }, change.was)
        }),
      ),
  },
]

export const memoryPlants: readonly Plant[] = PLANTS.map((plant) => ({ ...plant, kind: 'long_term' }))

/** Shows an agent no jobs. */
function seeingNoJobs(store: Store): Store {
  return {
    durability: store.durability,
    blobs: store.blobs,
    async ask<Q extends Question>(question: Q): Promise<AnswerTo<Q>> {
      const answer = await store.ask(question)
      if (question.ask !== 'processes' || question.filter.label?.includes(MEMORY_WORKFLOW) !== true)
        return answer
      const page: unknown = answer
      const jobs = page as Page<ProcessRow>
      const altered: unknown = { ...jobs, items: [] }
      return altered as AnswerTo<Q>
    },
    write: (plan) => store.write(plan),
    onCommit: (listener) => store.onCommit(listener),
    close: () => store.close(),
  }
}
