import type { Intent } from '../core/process/intent.ts'
import type { Edges } from './edges.ts'
import type { Work } from './executor.ts'
import { type Performed, perform } from './perform.ts'

/** An intent of an executor about its own process. `performAs` adds the actor and the fence. */
export type OwnIntent = Without<Extract<Intent, { type: OwnType }>>

type OwnType =
  | ('append' | 'program_started' | 'enter_wait' | 'leave_wait')
  | ('end_step' | 'retry_step' | 'give_up_stop' | 'agent_act')
  | ('match' | 'disable_watch' | 'settle_readiness' | 'beat')

/**
 * An executor's write. A kernel whose row lapsed reclaims its leases under higher fences, and its executors go on. A write
 * that was under way then carried the old fence, and is repeated with the new one.
 */
export async function performAs(edges: Edges, work: Work, intent: OwnIntent): Promise<Performed> {
  const { pid } = work.record
  for (;;) {
    const fence = work.fence()
    const asked = { pid, actor: `process:${pid}`, at: edges.clock.now(), fence } as const
    const performed = await perform(edges, { ...intent, ...asked } as Intent)
    if (performed.type !== 'refused' || performed.refusal.code !== 'stale_fence') return performed
    if (work.fence().fence <= fence.fence) return performed
  }
}

type Without<Union> = Union extends unknown ? Omit<Union, 'pid' | 'actor' | 'at' | 'fence'> : never
