import { hash } from 'node:crypto'
import type { Check, Ledger } from '../ledger.ts'
import type { Stage } from '../stage.ts'

const PAGE = 1_000

/** The audit is one chain: each entry follows from the one before, and none of them ever changes. */
export function checkAudit(stage: Stage, ledger: Ledger): Check {
  /** The hash of each entry when it was first seen. */
  const seen = new Map<number, string>()
  const broke = (what: string) => stage.violated('the audit is one chain', what)
  return {
    full() {
      const { start, position: end } = ledger.observer.ask({ ask: 'auditTail' })
      let { position, hash: last } = start ?? { position: 0, hash: '' }
      for (;;) {
        const { items } = ledger.observer.ask({ ask: 'audit', after: position, limit: PAGE })
        for (const entry of items) {
          if (entry.position !== position + 1) broke(`the entry ${position + 1} is missing`)
          if (entry.hash !== hash('sha256', `${last}${entry.text}`))
            broke(`the entry ${entry.position} is not the one after ${position}`)
          if ((seen.get(entry.position) ?? entry.hash) !== entry.hash)
            broke(`the entry ${entry.position} has changed`)
          seen.set(entry.position, entry.hash)
          position = entry.position
          last = entry.hash
        }
        if (items.length < PAGE) break
      }
      if (position !== end || position < Math.max(0, ...seen.keys()))
        broke(`it ends with ${position}, and should with ${end}`)
    },
  }
}
