import type { Question } from '../contract.ts'

/** A row that the commit compares with the version that a plan has read. */
export interface Guard {
  readonly question: Extract<
    Question,
    {
      ask:
        | ('process' | 'session' | 'turn' | 'group' | 'inbox' | 'account')
        | ('approval' | 'ruleUse' | 'auditWindow' | 'schedule' | 'liens' | 'trigger' | 'delivery')
        | 'revocation'
        | ('holder' | 'announced' | 'environment')
    }
  >
  readonly version: number
}

/** The new state of a row, null if it is removed. `version` is the one in the database, 0 if the row does not exist there. */
export interface StagedRow<Value> {
  readonly version: number
  readonly next: number
  readonly base: Value | null
  readonly value: Value
}

/** Unique: a group or a session may be removed and created again, and must not look unchanged. A pid is never reused. */
export function newVersion(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2))
  return (high & 0xfffff) * 2 ** 32 + low + 1
}
