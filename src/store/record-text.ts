import type { ProcessRecord } from '../core/process/record.ts'

/** Fields that no event changes after registration: written once, and not again with every event. */
const FIXED = [
  'pid',
  'name',
  'kind',
  'spec',
  'identity',
  'parent',
  'root',
  'depth',
  'restartOf',
  'group',
  'originator',
  'causedBy',
  'replyTo',
  'lifetime',
  'recovery',
  'envRef',
  'eventTypes',
  'registrationHash',
  'limits',
  'createdAt',
] as const satisfies readonly (keyof ProcessRecord)[]

type Moving = Omit<ProcessRecord, (typeof FIXED)[number]>

export function fixedText(record: ProcessRecord): string {
  return JSON.stringify(Object.fromEntries(FIXED.map((field) => [field, record[field]])))
}

/** Every field that is not fixed; the compiler says so when one is forgotten. */
export function movingText(record: ProcessRecord): string {
  const moving: Moving = {
    owner: record.owner,
    cwd: record.cwd,
    wakeTarget: record.wakeTarget,
    status: record.status,
    pausedFrom: record.pausedFrom,
    stopRequest: record.stopRequest,
    wait: record.wait,
    signals: record.signals,
    children: record.children,
    attempts: record.attempts,
    retryAt: record.retryAt,
    firstStarted: record.firstStarted,
    abandonRequest: record.abandonRequest,
    externalRef: record.externalRef,
    outcome: record.outcome,
    facets: record.facets,
    revision: record.revision,
    updatedAt: record.updatedAt,
  }
  return JSON.stringify(moving)
}

export function recordFrom(fixed: string, moving: string): ProcessRecord {
  return { ...(JSON.parse(fixed) as ProcessRecord), ...(JSON.parse(moving) as Moving) }
}
