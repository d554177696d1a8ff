import { accountOf, remainderOf } from '../core/allowance/account.ts'
import type { StoredEvent } from '../core/process/event.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { type OwnLimits, ownLimits } from './plan.ts'

export interface LimitWatch {
  stop(): void
}

/**
 * Reports the CPU time and output that a command may still use. That shrinks when a child is given a part of the allowance, and
 * grows when the part comes back; both show in the change feed. Null if nothing can change.
 */
export function watchLimits(
  record: ProcessRecord,
  { edges, feed }: Pick<Kernel, 'edges' | 'feed'>,
  tell: (limits: OwnLimits) => void,
): LimitWatch | null {
  const { pid } = record
  const { cpuSeconds, outputBytes } = record.limits.allowance ?? {}
  if (cpuSeconds === undefined && outputBytes === undefined) return null
  let isStopped = false
  let isReading = false
  let isStale = false
  /** Nothing comes back to a command that gave nothing away. */
  let hasGiven = true

  const read = async (): Promise<void> => {
    isReading = true
    try {
      do {
        isStale = false
        const account = await edges.store.ask({ ask: 'account', id: accountOf(pid) })
        if (account === null || isStopped) return
        hasGiven = Object.values(account.carved).some((amount) => amount > 0)
        tell(ownLimits(record, remainderOf(account)))
      } while (isStale)
    } finally {
      isReading = false
    }
  }
  const readAgain = () => {
    isStale = true
    if (isStopped || isReading) return
    read().catch((error: unknown) => {
      if (isStopped) return
      edges.onTrouble(error, `reading the rest of the allowance of ${pid}`)
      edges.clock.after(RETRY_MS, readAgain)
    })
  }
  const offOwn = feed.on(pid, (events) => {
    if (events === null || events.some(({ type }) => type === 'child_registered')) readAgain()
  })
  const offAll = feed.onAll((events) => {
    if (hasGiven && events.some(isEnd)) readAgain()
  })
  readAgain()
  return {
    stop() {
      isStopped = true
      offOwn()
      offAll()
    },
  }
}

/** The delay before a failed read of the store is repeated. */
const RETRY_MS = 500

/** Any process's end counts: the allowance may return from a grandchild whose parent is already gone. */
function isEnd({ type }: StoredEvent): boolean {
  return type === 'ended'
}
