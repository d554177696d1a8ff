import type { ProcessRecord } from '../../core/process/record.ts'
import type { Kernel } from '../../kernel/kernel.ts'

/** Why the rule that asked a person about this process exists; null if none did, or it does not say. */
export async function justificationOf(
  { edges }: Kernel,
  { gate, outcome }: ProcessRecord,
): Promise<string | null> {
  if (gate === null || outcome?.status === 'completed') return null
  const approval = await edges.store.ask({ ask: 'approval', id: gate.approval })
  return approval?.request.type === 'permission' ? approval.request.justification : null
}
