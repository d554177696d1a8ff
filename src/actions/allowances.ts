import { remainderOf } from '../core/allowance/account.ts'
import { usedByCommand } from '../core/allowance/used-by-command.ts'
import { RefusedError } from '../core/errors.ts'
import { type Actor, hasEnded, type ProcessRecord } from '../core/process/record.ts'
import { sessionUnknown } from '../core/session/session.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { resolve } from '../kernel/resolve.ts'
import { Sums } from '../kernel/sums.ts'
import { type ActsFor, readerFor } from './action.ts'

export function allowanceActs(kernel: Kernel, actor: Actor): ActsFor<'charge' | 'budget'> {
  const { edges } = kernel
  const read = readerFor(kernel, actor)
  return {
    async charge({ pid, amounts, done, ...key }) {
      const found = await resolve(edges, actor, pid)
      const { account, row } = await kernel.charge({ pid: found, amounts, done, actor, ...key })
      const { given, used } = account
      const { stopRequest } = row.record
      const ended = hasEnded(row.record) || stopRequest?.reason.startsWith('limit:') === true
      return { given, used, left: remainderOf(account), ended }
    },
    async budget({ pid, session }) {
      const sums = new Sums(edges.store)
      if (pid !== undefined) {
        const record = await read(pid)
        return (await sums.of(record)) ?? ownUse(record)
      }
      const id = session ?? ''
      const denied = edges.authorize(actor, 'read', { type: 'session', id })
      if (denied !== undefined) throw new RefusedError(denied)
      const found = await edges.store.ask({ ask: 'session', id })
      if (found === null) throw new RefusedError(sessionUnknown(id))
      return sums.ofSession(found)
    },
  }
}

/** A command that is part of no sums has used what its outcome says. */
function ownUse({ kind, outcome }: ProcessRecord) {
  const used = usedByCommand(kind, outcome?.result)
  return { given: {}, used, total: used, left: {} }
}
