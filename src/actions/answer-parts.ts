import type { Approval } from '../core/approval/approval.ts'
import type { Environment } from '../core/environment/environment.ts'
import type { Notice } from '../core/inbox/notice.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { ProcessRecord } from '../core/process/record.ts'

export function isRecord(value: object): value is ProcessRecord {
  return 'pid' in value && 'kind' in value && 'spec' in value && 'registrationHash' in value
}

export function isApproval(value: object): value is Approval {
  return 'pid' in value && 'request' in value && 'askedAt' in value
}

export function isEventOrNotice(value: object): value is StoredEvent | Notice {
  return 'pid' in value && 'seq' in value && 'payload' in value
}

/** A notice has a text. */
export function hasText<Item extends object>(item: Item): item is Item & { readonly text: string } {
  return 'text' in item && typeof item.text === 'string'
}

export function isEnvironment(value: object): value is Environment {
  return 'variables' in value && 'policy' in value && 'options' in value
}

/** `variables.X.secret` names a secret, and does not contain its value. */
export function isNameOfSecret(member: string, depth: number): boolean {
  return member === 'secret' && depth === 2
}

/** The members of a record that hold no text of callers. They are many and often read, so they are skipped. */
export const PLAIN: ReadonlySet<string> = new Set([
  'pid',
  'kind',
  'parent',
  'root',
  'restartOf',
  'group',
  'owner',
  'originator',
  'lifetime',
  'recovery',
  'placement',
  'envRef',
  'registrationHash',
  'wakeTarget',
  'limits',
  'status',
  'pausedFrom',
  'signals',
  'firstStarted',
  'program',
  'depth',
  'children',
  'attempts',
  'retryAt',
  'revision',
  'createdAt',
  'updatedAt',
  'parked',
  'awaitedBy',
])

/** The members that one program passes to another, which needs them unmasked. */
const DATA: ReadonlySet<string> = new Set([
  'spec',
  'result',
  'value',
  'definition',
  'replyTo',
  'causedBy',
  'externalRef',
  'ref',
  'facets',
])

/** The result of a failure is a message, not data. */
export function isData(member: string, of: object): boolean {
  if (member === 'result' && 'status' in of && of.status !== 'completed') return false
  return DATA.has(member)
}
