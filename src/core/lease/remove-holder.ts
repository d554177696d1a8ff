import { type Refusal, refusal } from '../refusal.ts'
import type { HolderRow, Proof } from './holder.ts'

/**
 * Whether an operator may declare a holder dead. A holder that renews its row is removed only by force.
 *
 * | row     | alive   | dead   | unknown |
 * | valid   | force   | yes    | force   |
 * | expired | yes     | yes    | yes     |
 * | missing | yes, if it still holds something        |
 *
 * A holder that is expired and alive hangs or is suspended: only a removal frees its processes.
 */
export function refuseRemoval(
  id: string,
  row: HolderRow | null,
  { proof, holdsAny, force }: { readonly proof: Proof; readonly holdsAny: boolean; readonly force: boolean },
): Refusal | undefined {
  if (row === null) {
    if (holdsAny) return undefined
    return refusal('not_found', `There is no holder ${id}.`, 'List the holders to see which there are.')
  }
  if (force || row.expired || proof === 'dead') return undefined
  const { osPid, host, renewedAt } = row
  const of = osPid === 0 ? '' : `, PID ${osPid} on ${host},`
  return refusal(
    'holder_alive',
    `The holder ${id}${of} is alive: it renewed its row at ${new Date(renewedAt).toISOString()}.`,
    'Stop its program, or repeat this with force: other kernels then settle what it holds.',
    { id, osPid, host, renewedAt, proof },
  )
}
