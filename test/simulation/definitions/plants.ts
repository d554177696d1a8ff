import type { Schedule } from '../../../src/core/schedule/schedule.ts'
import type { Trigger } from '../../../src/core/trigger/trigger.ts'
import type { Edges } from '../../../src/kernel/edges.ts'
import { Kernel, type KernelOptions } from '../../../src/kernel/kernel.ts'
import type { Change, Plan, Question } from '../../../src/store/contract.ts'
import { changing, type Steps } from '../false-facts.ts'
import type { Plant } from '../plant.ts'
import { LAWS } from './laws.ts'

/** Plausible bugs of schedules and triggers: pids that follow from nothing, stale rows, a forgotten part of a commit. */
const PLANTS: readonly Omit<Plant, 'kind'>[] = [
  {
    name: 'an occurrence registered twice',
    laws: [LAWS.once],
    often: ['backfill schedule'],
    kernel: (edges, options) => withRandomPids(edges, options, 'schedule '),
  },
  {
    name: 'a catch-up that runs all missed times',
    laws: [LAWS.window, LAWS.policy],
    plan: (plan) =>
      onSchedule(plan, (row) => ({ ...row, catchUpMs: 1e12, gap: null, overlap: 'queue' }), [
        'catchUpMs',
        'overlap',
      ]),
  },
  {
    name: 'a time that runs again after the clock was set back',
    laws: [LAWS.once, LAWS.policy],
    since: 13,
    plan: (plan) => onSchedule(plan, (row) => ({ ...row, decidedThrough: 0 }), []),
  },
  {
    name: 'an occurrence beside the one before',
    laws: [LAWS.policy, LAWS.overlap],
    plan: (plan) =>
      onSchedule(plan, (row) => (row.overlap === 'skip' ? { ...row, overlap: 'allow' } : row), ['overlap']),
  },
  {
    name: 'an occurrence that a cancel forgets',
    laws: [LAWS.overlap],
    since: 8,
    often: ['edit schedule'],
    plan: (plan) =>
      changing(plan, (changes) =>
        changes.filter((change) => change.type !== 'process' || !change.events.some(isCancelledByOverlap)),
      ),
  },
  {
    name: 'a next occurrence lost with the end of the one before',
    laws: [LAWS.policy, LAWS.planned],
    plan: (plan) =>
      changing(plan, (changes) => (changes.some(isEndOfOccurrence) ? withoutFollowing(changes) : changes)),
  },
  {
    name: 'a duplicate delivery that starts a second process',
    laws: [LAWS.deliveredOnce],
    kernel: (edges, options) => withRandomPids(edges, options, 'trigger '),
  },
  {
    name: 'a queued delivery that is lost',
    laws: [LAWS.accepted, LAWS.verdicts],
    since: 9,
    plan: (plan) => onTrigger(plan, (row) => ({ ...row, queue: row.queue.slice(1) })),
  },
  {
    name: 'events lost behind a position that moves too far',
    laws: [LAWS.sources],
    plan: (plan) =>
      onTrigger(plan, (row) =>
        row.state.type === 'event'
          ? { ...row, state: { ...row.state, position: row.state.position + 3 } }
          : row,
      ),
  },
  {
    name: 'a change of files that a delivery forgets',
    laws: [LAWS.sources],
    often: ['change files'],
    plan: (plan) =>
      changing(plan, (changes) => (changes.some(isDelivery) ? withFormerFiles(changes) : changes)),
  },
]

export const definitionPlants: readonly Plant[] = PLANTS.map((plant) => ({ ...plant, kind: 'definitions' }))

/** Pids that should follow from these texts are random, so that nothing that was done before is found. */
function withRandomPids(edges: Edges, options: KernelOptions, prefix: string): Kernel {
  const pidOf = (text: string) => (text.startsWith(prefix) ? edges.newPid() : edges.pidOf(text))
  return new Kernel({ ...edges, pidOf }, options)
}

/** Shows plans another schedule than the stored one. `kept`: the members that stay as they are stored. */
function onSchedule<Answer>(
  plan: Plan<Answer>,
  forge: (row: Schedule) => Schedule,
  kept: readonly (keyof Schedule)[],
): Plan<Answer> {
  const stored = new Map<string, Schedule>()
  const told = telling(plan, 'schedule', (row: Schedule) => {
    stored.set(row.id, row)
    return forge(row)
  })
  return changing(told, (changes) =>
    changes.map((change) => {
      if (change.type !== 'schedule') return change
      const was = stored.get(change.schedule.id)
      const isEdit = was !== undefined && was.revision !== change.schedule.revision
      if (was === undefined || isEdit) return change
      const members = Object.fromEntries(kept.map((name) => [name, was[name]]))
      return { ...change, schedule: { ...change.schedule, ...members } }
    }),
  )
}

function onTrigger<Answer>(plan: Plan<Answer>, forge: (row: Trigger) => Trigger): Plan<Answer> {
  return telling(plan, 'trigger', forge)
}

function telling<Answer, Row>(
  plan: Plan<Answer>,
  about: Question['ask'],
  forge: (row: Row) => Row,
): Plan<Answer> {
  return function* (): Steps<Answer> {
    const steps = plan()
    let known: readonly unknown[] = []
    for (;;) {
      const step = steps.next(known)
      if (step.done) return step.value
      const answers = yield step.value
      known = step.value.map(({ ask }, index) => {
        const answer = answers[index]
        return ask === about && answer !== null ? forge(answer as Row) : answer
      })
    }
  }
}

function isDelivery({ type }: Change): boolean {
  return type === 'delivery'
}

/** Each row of a trigger keeps the set that it had before the commit. */
function withFormerFiles(changes: readonly Change[]): readonly Change[] {
  const first = changes.find((change) => change.type === 'trigger')
  const state = first?.type === 'trigger' ? first.was?.state : undefined
  if (state?.type !== 'files') return changes
  return changes.map((change) =>
    change.type === 'trigger' && change.trigger.state.type === 'files'
      ? { ...change, trigger: { ...change.trigger, state } }
      : change,
  )
}

function isCancelledByOverlap({
  type,
  payload,
}: {
  readonly type: string
  readonly payload: unknown
}): boolean {
  return type === 'stop_requested' && Object(payload).reason === 'schedule_overlap'
}

function isEndOfOccurrence(change: Change): boolean {
  if (change.type !== 'process' || change.row.record.outcome === null) return false
  const { causedBy, firstStarted } = change.row.record
  return causedBy?.['schedule'] !== undefined && firstStarted !== null
}

/** The commit without the registration of the next occurrence, and without its place in the row. */
function withoutFollowing(changes: readonly Change[]): readonly Change[] {
  return changes.flatMap((change): readonly Change[] => {
    if (change.type === 'schedule') return [{ ...change, schedule: { ...change.schedule, next: null } }]
    const isNew = change.type === 'process' && change.was === null
    return isNew && change.row.record.causedBy?.['schedule'] !== undefined ? [] : [change]
  })
}
