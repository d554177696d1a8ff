import { type Fence, holds } from '../lease/lease.ts'
import { type Refusal, refusal } from '../refusal.ts'
import { stopping } from './decide-stop.ts'
import { staleFence } from './decision.ts'
import type { Pid } from './pid.ts'
import { hasEnded, type ProcessRecord } from './record.ts'
import type { ProcessRow } from './row.ts'

/** Whether a process may get children: it lives, and is not being stopped. */
export function takesChildren(record: ProcessRecord): boolean {
  return !hasEnded(record) && record.status !== 'stopping'
}

interface ParentFacts {
  readonly parent: ProcessRow | null
  /** The nearest ancestor that takes no children: it is being stopped, or has ended. */
  readonly stoppingAncestor: ProcessRow | null
}

interface ParentRequest {
  readonly pid: Pid
  readonly parent: Pid | undefined
  /** Of the parent's executor, if it is the one that asks: a lost lease has no more children. */
  readonly fence: Fence | null
}

/** Whether a new process may be put under the parent that it names. */
export function refuseParent(
  { parent, stoppingAncestor }: ParentFacts,
  { pid, parent: wanted, fence }: ParentRequest,
): Refusal | undefined {
  if (wanted === undefined) return undefined
  if (parent === null) {
    return refusal(
      'unknown_pid',
      `The parent ${wanted} of ${pid} does not exist.`,
      'Register the parent first, or leave it out.',
    )
  }
  if (fence !== null && !holds(parent, fence)) return staleFence(parent.record, fence)
  if (stoppingAncestor === null) return undefined
  const { record } = stoppingAncestor
  if (!hasEnded(record)) return stopping(record)
  return refusal(
    'already_ended',
    `${record.pid} has ended (${record.status}) and takes no more children.`,
    'Register it without a parent, or under a live one.',
    { outcome: record.outcome },
  )
}
