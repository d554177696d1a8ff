import { visibilityOf } from '../core/authority/visibility.ts'
import type { Need } from '../core/capability/need.ts'
import type { ObjectRight } from '../core/object/object.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import { ruleOnAct } from './beyond-ownership.ts'
import type { Edges } from './edges.ts'
import type { PlanPart } from './plan-part.ts'
import { lineageOf } from './rule-facts.ts'
import type { WorkingRows } from './working-rows.ts'

export interface ObjectAct {
  readonly actor: Actor
  readonly at: number
  readonly right: ObjectRight
  /** The object in the view; null for the whole view. */
  readonly name: string | null
}

/**
 * Whether an actor may act in the view of a process. A process acts in its own view alone: it has no right in those of its children.
 * Rules about `object:<pids from the root>/<name>` may deny that, and may allow it to others.
 */
export function* refuseObjectAct(
  edges: Edges,
  rows: WorkingRows,
  record: ProcessRecord,
  { actor, at, right, name }: ObjectAct,
): PlanPart<Refusal | undefined> {
  const { pid } = record
  if (visibilityOf(actor).type === 'all') return undefined
  const isProcess = actor.startsWith('process:')
  const denied =
    isProcess && actor !== `process:${pid}`
      ? notItsView(actor, record, right)
      : edges.authorize(actor, right === 'write' || right === 'link' ? 'write' : 'read', {
          type: 'process',
          record,
        })
  const path = yield* pathOf(rows, record, name)
  const need: Need = { right, resource: { kind: 'object', path }, attributes: {} }
  const ruled = yield* ruleOnAct(edges, rows, actor, [need], at)
  switch (ruled.type) {
    case 'unnamed':
      return denied
    case 'denied':
      return denied ?? deniedByRule(actor, right, path, ruled.rule.text)
    case 'allowed':
      if (denied !== undefined) rows.add(ruled.changes)
      return undefined
  }
}

/** Namespaces are in each other as their processes are: a rule about one covers those below it. */
function* pathOf(rows: WorkingRows, { pid }: ProcessRecord, name: string | null): PlanPart<string> {
  const pids = (yield* lineageOf(rows, pid)).map(({ record }) => record.pid).reverse()
  return [...pids, ...(name === null ? [] : [name])].join('/')
}

function notItsView(actor: Actor, { pid }: ProcessRecord, right: ObjectRight): Refusal {
  return refusal(
    'denied',
    `${actor} may not ${right} in the view of ${pid}: each process has its own.`,
    `Ask ${pid} for a handle to the object.`,
    { subject: actor, right },
  )
}

function deniedByRule(subject: Actor, right: ObjectRight, path: string, rule: string): Refusal {
  return refusal(
    'denied',
    `${subject} may not ${right} object:${path}: ${rule}.`,
    'Do it another way, or ask the person who set the rules.',
    { subject, right, rule },
  )
}
