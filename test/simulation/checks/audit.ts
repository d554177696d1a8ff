import { hash } from 'node:crypto'
import { entriesIn } from '../../../src/core/audit/link.ts'
import type { Check, Ledger } from '../ledger.ts'
import type { Stage } from '../stage.ts'

const PAGE = 1_000

/** The audit is one chain: each link follows from the one before, and none of them ever changes. */
export function checkAudit(stage: Stage, ledger: Ledger): Check {
  /** The hash of each link when it was first seen, by its position. */
  const seen = new Map<number, string>()
  const broke = (what: string) => stage.violated('the audit is one chain', what)
  return {
    full() {
      const { start, position: end } = ledger.observer.ask({ ask: 'auditTail' })
      let { position, hash: last } = start ?? { position: 0, hash: '' }
      for (;;) {
        const { items } = ledger.observer.ask({ ask: 'auditLinks', after: position, limit: PAGE })
        for (const link of items) {
          const count = entriesIn(link.text)?.length ?? 0
          if (link.position !== position + count) broke(`the entry ${position + 1} is missing`)
          if (link.hash !== hash('sha256', `${last}${link.text}`))
            broke(`the link up to ${link.position} is not the one after ${position}`)
          if ((seen.get(link.position) ?? link.hash) !== link.hash)
            broke(`the link up to ${link.position} has changed`)
          seen.set(link.position, link.hash)
          position = link.position
          last = link.hash
        }
        if (items.length < PAGE) break
      }
      if (position !== end || position < Math.max(0, ...seen.keys()))
        broke(`it ends with ${position}, and should with ${end}`)
    },
  }
}
