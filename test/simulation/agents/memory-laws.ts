import { objectOf } from '../../../src/core/json/json.ts'
import { isMemoryJob, memoryOf } from '../../../src/core/memory/memory-spec.ts'
import type { StoredEvent } from '../../../src/core/process/event.ts'
import type { Pid } from '../../../src/core/process/pid.ts'
import type { ProcessRecord } from '../../../src/core/process/record.ts'
import type { Check, Ledger, ProcessChange } from '../ledger.ts'
import { same } from '../ledger.ts'
import { payloadOf } from '../payload.ts'
import type { Stage } from '../stage.ts'

/** The laws of jobs that keep long-term memory. A planted bug names the one that it breaks. */
export const MEMORY_LAWS = {
  alone: 'one job of an agent works at a time',
  charged: 'each model call of a job is charged once',
  covered: 'a session gets into memory',
} as const

interface Seen {
  job: Pid | null
  /** The call that is under way, with its estimate. */
  call: { readonly id: string; readonly estimate: unknown } | null
}

/** A second opinion on the notes of the jobs: who may note, and what has to be charged with each note. */
export class MemoryLaws implements Check {
  readonly #stage: Stage
  readonly #ledger: Ledger
  readonly #seen = new Map<Pid, Seen>()
  /** How far each job has read. */
  readonly #looked = new Map<Pid, unknown>()

  constructor(stage: Stage, ledger: Ledger) {
    this.#stage = stage
    this.#ledger = ledger
  }

  process({ row: { record } }: ProcessChange, _before: unknown, stored: readonly StoredEvent[]): void {
    for (const event of stored) this.#noteLook(event)
    if (record.agent === null) return
    const expected: unknown[] = []
    for (const event of stored) {
      const note = payloadOf(event, 'memory_noted')?.note
      if (note === undefined) continue
      const seen = this.#seenOf(record.pid)
      if (note.type !== 'failed') this.#compareJob(record.pid, seen, note.job)
      if (note.type === 'updated' && note.through !== this.#looked.get(note.job))
        this.#broke('covered', `${note.job} read ${this.#looked.get(note.job)}, and says ${note.through}`)
      const lost = note.type === 'call_begun' || note.type === 'updated'
      if (lost && seen.call !== null) expected.push(seen.call.estimate)
      if (lost) seen.call = null
      if (note.type === 'call_begun') seen.call = { id: note.call, estimate: note.estimate }
      if (note.type !== 'call_ended') continue
      if (seen.call?.id !== note.call) this.#broke('charged', `${record.pid}: ${note.call} is not under way`)
      seen.call = null
      if (note.use !== null) expected.push(note.use)
    }
    const charged = stored.flatMap((event) => {
      const { memory, turn: _, call: __, ...use } = payloadOf(event, 'model_used') ?? {}
      return memory === true ? [use] : []
    })
    if (!same(charged, expected))
      this.#broke('charged', `${record.pid}: ${JSON.stringify(charged)}, not ${JSON.stringify(expected)}`)
  }

  /** Faults have ended, and time has passed: what an idle agent has said is in memory, unless its last job has failed. */
  atRest(): void {
    for (const { pid, record, events } of this.#ledger.processes.values()) {
      const { agent } = record
      if (agent === null || memoryOf(record) === null || !isIdle(record)) continue
      if ((agent.memory?.through ?? 0) >= agent.head || isIdledWithoutJob(events)) continue
      if (this.#hasPausedJob(pid)) continue
      const last = events.findLast((event) => payloadOf(event, 'child_registered')?.kind === 'workflow')
      const job = payloadOf(last ?? NO_EVENT, 'child_registered')?.pid ?? ''
      const status = this.#ledger.entry(job)?.record.outcome?.status
      if (status === undefined || status === 'completed')
        this.#broke(
          'covered',
          `${pid} has ${agent.head}, its memory ${agent.memory?.through}: ${job} ${status}`,
        )
    }
  }

  #noteLook(event: StoredEvent): void {
    const step = payloadOf(event, 'step_ended')
    if (step?.name === 'look' && step.how === 'done')
      this.#looked.set(event.pid, objectOf(step.value ?? null)['through'])
  }

  /** A client has paused it. */
  #hasPausedJob(agent: Pid): boolean {
    return [...this.#ledger.processes.values()].some(
      ({ record }) => record.parent === agent && isMemoryJob(record) && record.status === 'paused',
    )
  }

  #compareJob(agent: Pid, seen: Seen, job: Pid): void {
    const before = seen.job === null ? undefined : this.#ledger.entry(seen.job)?.record
    if (seen.job !== job && before !== undefined && before.outcome === null)
      this.#broke('alone', `${agent}: ${job} works beside ${seen.job}`)
    seen.job = job
  }

  #seenOf(agent: Pid): Seen {
    const known = this.#seen.get(agent) ?? { job: null, call: null }
    this.#seen.set(agent, known)
    return known
  }

  #broke(law: keyof typeof MEMORY_LAWS, what: string): void {
    this.#stage.violated(MEMORY_LAWS[law], what)
  }
}

/** Its holder was lost, or had trouble with the store, between the turn and the job: the job of the next turn covers it. */
function isIdledWithoutJob(events: readonly StoredEvent[]): boolean {
  const idled = events.findLastIndex(({ type }) => type === 'agent_idled')
  const begun = events.slice(0, idled).findLastIndex(({ type }) => type === 'started')
  return events.slice(begun + 1, idled).some(({ type }) => type === 'holder_lost' || type === 'released')
}

const NO_EVENT = { type: 'none', payload: null } as const

function isIdle({ outcome, stopRequest, status, agent }: ProcessRecord): boolean {
  return outcome === null && stopRequest === null && status !== 'paused' && agent?.turn === null
}
