import type { InputOf, OutputOf } from 'reeve'
import { asJson, objectOf } from '../../src/core/json/json.ts'
import type { AskedAction } from './asked-actions.ts'

type Approval = OutputOf<'approvals'>['approvals'][number]

/** In a dispute one person approves and the other denies. */
export function answerTo({ wish }: AskedAction, person: number): 'approve' | 'deny' | null {
  if (wish === 'dispute') return person === 0 ? 'approve' : 'deny'
  if (wish === 'stop' || wish === 'expire') return null
  return wish === 'deny' ? 'deny' : 'approve'
}

/** The yes that an action is to get. */
export function yesTo({ wish, editedFile }: AskedAction, { id, request }: Approval): InputOf<'approve'> {
  if (request.type !== 'permission' || request.action.act.type !== 'command') return { id }
  const [program = '', file] = request.action.act.argv ?? []
  // An edited action that has changed since, and is asked about again, is approved as it is.
  if (wish === 'edit' && file !== editedFile) return { id, spec: { argv: [program, editedFile] } }
  if (wish === 'session') return { id, grant: 'session' }
  if (wish !== 'always' || request.alwaysRule === null) return { id }
  return { id, grant: 'always', rule: objectOf(asJson(request.alwaysRule)) }
}
