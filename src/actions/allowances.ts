import { remainderOf } from '../core/allowance/account.ts'
import { usedByCommand } from '../core/allowance/used-by-command.ts'
import { RefusedError } from '../core/errors.ts'
import { hasEnded, type ProcessRecord } from '../core/process/record.ts'
import { sessionUnknown } from '../core/session/session.ts'
import { Sums } from '../kernel/sums.ts'
import { type ActionParts, type ActionsFor, finderFor, permitOnSession, readerFor } from './action.ts'

export function allowanceActions(parts: ActionParts): ActionsFor<'charge' | 'budget'> {
  const { kernel, actor } = parts
  const { edges } = kernel
  const find = finderFor(parts)
  const read = readerFor(parts)
  return {
    async charge({ pid, amounts, done, ...key }) {
      const found = await find(pid)
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
      await permitOnSession(parts, id)
      const found = await edges.store.ask({ ask: 'session', id })
      if (found === null) throw new RefusedError(sessionUnknown(id))
      return sums.ofSession(found)
    },
  }
}

/** The usage of a command that no sum includes, from its outcome. */
function ownUse({ kind, outcome }: ProcessRecord) {
  const used = usedByCommand(kind, outcome?.result)
  return { given: {}, used, total: used, left: {} }
}
